"""An all-convolutional network for 32 × 32 images (Springenberg et al., 2015), and one compiled step of gradient descent.

It has no layers but convolutions: those with stride 2 take the place of pooling. The images are synthetic, of the shape of
CIFAR-10: one pattern for each class, and noise.

    python examples/programs/allconv.py
"""

import numpy as np


CLASSES, SIZE = 10, 32
# (window, output features, stride, padding); the features are scaled by `width`.
LAYERS = (
    (3, 96, 1, "SAME"), (3, 96, 1, "SAME"), (3, 96, 2, "SAME"),
    (3, 192, 1, "SAME"), (3, 192, 1, "SAME"), (3, 192, 2, "SAME"),
    (3, 192, 1, "VALID"), (1, 192, 1, "VALID"), (1, CLASSES, 1, "VALID"),
)  # fmt: skip


def initial_parameters(width=1.0, seed=0):
    """A list of (window, bias) in NumPy, He's normal initialization."""
    random = np.random.default_rng(seed)
    params, features = [], 3
    for i, (k, out, _, _) in enumerate(LAYERS):
        out = out if i == len(LAYERS) - 1 else max(1, int(width * out))
        scale = (2.0 / (k * k * features)) ** 0.5
        window = scale * random.standard_normal((k, k, features, out))
        params.append((window.astype(np.float32), np.zeros(out, np.float32)))
        features = out
    return params


def images(count, seed=1):
    """(images, labels): (count, 32, 32, 3) float32 and (count,) int32."""
    random = np.random.default_rng(seed)
    patterns = np.random.default_rng(0).standard_normal((CLASSES, SIZE, SIZE, 3))
    labels = random.integers(0, CLASSES, count)
    x = patterns[labels] + random.standard_normal((count, SIZE, SIZE, 3))
    return x.astype(np.float32), labels.astype(np.int32)


def network(jax, jnp):
    """`logits(params, images)`: (count, 10)."""

    def logits(params, x):
        for i, ((window, bias), (_, _, stride, padding)) in enumerate(zip(params, LAYERS)):
            x = jax.lax.conv_general_dilated(
                x, window, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = x + bias
            if i < len(LAYERS) - 1:
                x = jnp.maximum(x, 0.0)
        return jnp.mean(x, axis=(1, 2))

    return logits


def same(x):
    return x


def make(jax, jnp, of_loss=same, of_all=same):
    """`step(params, images, labels)`: (params, loss) after one step down the gradient of the cross-entropy.

    Where each of several devices has its own images, `of_loss` (of the loss that is differentiated) or `of_all` (of loss and gradient)
    takes the mean over the devices.
    """
    logits = network(jax, jnp)

    def loss(params, x, labels):
        z = logits(params, x)
        z = z - jnp.max(z, axis=1, keepdims=True)
        log_total = jnp.log(jnp.sum(jnp.exp(z), axis=1))
        return of_loss(jnp.mean(log_total - jnp.take_along_axis(z, labels[:, None], axis=1)[:, 0]))

    def step(params, x, labels, rate=0.05):
        value, grads = of_all(jax.value_and_grad(loss)(params, x, labels))
        return [(w - rate * dw, b - rate * db) for (w, b), (dw, db) in zip(params, grads)], value

    return step


def arguments(count=8, width=1.0):
    return initial_parameters(width), *images(count)


def main(jax, jnp):
    step = jax.jit(make(jax, jnp))
    params, x, labels = arguments(16, width=0.25)
    for i in range(10):
        params, value = step(params, x, labels)
        print(f"step {i}: loss {float(value):.4f}")


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp

    main(jax, jnp)

"""What each sharp bit is about: why a tracing compiler sees the code so, and what to write instead. docs/sharp-bits.md has them too."""

from __future__ import annotations


WHY: dict[str, str] = {
    # tracing and side effects
    "trace-time-print": "A jitted function is run once, with tracers in the place of its arrays; later calls run the compiled program. "
    "Python's print and string formatting belong to that one run: they show the tracer, not a value, and compiled calls print nothing. "
    "jax.debug.print is part of the program and sees the values of each call.",
    "stale-capture": "What a function reads from outside (a global, a closure, an attribute) becomes a constant of the program while it "
    "is traced. A later change of it is not seen by calls that reuse the program. An argument is read at each call.",
    "trace-time-mutation": "A change of something outside happens while the function is traced, that is once, and not in compiled calls. "
    "A change of an argument's list or dict changes a copy. Return the new state and rebind it in the caller.",
    "host-nondeterminism": "Python's and NumPy's random numbers, clocks and the environment are read while the function is traced; the "
    "value becomes a constant of the program, the same at each call. Pass a key, a time or a setting as an argument.",
    "tracer-leak": "A tracer stands for a value only while its function is traced. Kept in a list, a global or an attribute, it outlives "
    "the trace and has no value: using it later is an error, often far from the line that kept it. Return the value instead. "
    "Python keeps things of its own accord, too: a default that is a list is one object for all calls, and a function under lru_cache "
    "gives to the next call what it made while something was traced.",
    # control flow
    "branch-on-tracer": "Python's `if` needs a truth now, but a traced value is known only when the program runs. Both outcomes have to "
    "be part of the program: jnp.where computes both and chooses, lax.cond runs one. If the value is a choice made before, make the "
    "argument static.",
    "logical-op-on-tracer": "`and`, `or`, `not`, `in` and chains such as `0 < x < 1` ask their operands for a Python truth, which a "
    "traced value cannot give. `&`, `|`, `~` and functions of jnp work on arrays, element by element.",
    "loop-on-tracer": "A Python loop is run while tracing, so its number of iterations must be known then. lax.fori_loop and "
    "lax.while_loop put the loop into the program; a static argument makes the number known, with one program for each value.",
    "flag-arg-traced": "Every argument of a jitted function is traced unless it is static, flags and numbers as well. A flag that "
    "decides what the program is must be static; each of its values then has a program of its own.",
    "isinstance-on-tracer": "While tracing, arguments are tracers, never float, int or numpy.ndarray. A test of such a type decides "
    "otherwise than it would without jit. Ask for x.ndim, x.dtype or x.shape: those are known while tracing.",
    "cond-branch-mismatch": "One equation stands for both branches of a cond, so both must give the same tree of the same shapes and "
    "dtypes. A Python number and an array may differ in dtype.",
    "cond-runs-both": "Both branches of a cond are traced, so Python's side effects of both happen. Under vmap with a condition for each "
    "row, both are computed for all rows and one result is selected.",
    "loop-carry-mismatch": "The body of a loop is compiled once, for all iterations, so the carry must keep its shape and dtype. An int "
    "that becomes a float in the first pass, or an array that grows, has no single type.",
    "loop-argument-order": "A loop gives its function two things by position, whatever their names are: fori_loop the number of the iteration "
    "and then the carry, scan the carry and then a slice. In the other order it computes with the one in place of the other; shapes that fit by "
    "chance hide that.",
    "unrolled-loop": "A Python loop runs while tracing, and each pass adds its equations to the program: tracing and compiling take "
    "longer with every pass. lax.fori_loop and lax.scan hold the body once.",
    # shapes and indexing
    "data-dependent-shape": "Shapes are fixed when a program is compiled. A result whose size depends on values (a boolean index, "
    "nonzero, unique) has no shape then. Keep the size and mask, or give `size=`.",
    "traced-shape-arg": "A size, an axis or a number of classes is part of the program's types and must be known while tracing. A traced "
    "argument is not: make it static, or compute it from x.shape with Python's own arithmetic.",
    "traced-slice-bound": "The length of a slice is part of a shape, so both bounds must be known while tracing. lax.dynamic_slice has a "
    "start that may vary and a length that is fixed.",
    "oob-index": "A compiled program cannot raise for a value: an index out of bounds reads the nearest element, an update outside is "
    "dropped, a slice is moved until it fits. `.at[i].get(mode=...)` says what you want.",
    "silent-broadcast": "Axes of size 1 are repeated without a word: f32[n,1] - f32[n] is f32[n,n], each element with each of the other, "
    "and the mean of its squares is a number that looks like a loss. A model's output often has an axis more than its targets.",
    # dtypes
    "x64-truncation": "Arrays have 32 bits unless jax_enable_x64 is on. Data of 64 bits are cut: floats lose digits, large integers "
    "wrap. Turn the option on before the first array, or scale the data.",
    "int-overflow": "Integers have a fixed width and wrap around without a word; Python's do not. Widen or use floats before the "
    "operation that overflows.",
    "low-precision-sum": "bfloat16 has 8 significant bits and float16 has 11: what is less than half of a sum's last digit is lost when it "
    "is added, and the sum stands still. jnp.sum adds in float32; a sum that a loop carries, x.at[i].add and segment_sum add in their own "
    "dtype. Keep such sums in float32.",
    # recompilation
    "recompile-shape": "A program is compiled for the shapes of its arguments; another shape is another program. Pad to few sizes, or "
    "drop what is left over at the end.",
    "recompile-dtype": "A program is compiled for the dtypes of its arguments. Cast once, where the data come in.",
    "recompile-weak-type": "A Python number takes the dtype of what it meets (it is weakly typed), an array keeps its own: the two are "
    "different arguments and get a program each. Pass always the one or always the other.",
    "recompile-static-value": "The value of a static argument is part of the program: each new value is compiled. What varies much is "
    "better traced.",
    "recompile-fresh-function": "Programs are kept by function object. A lambda, a partial or a nested def made anew is traced anew. "
    "Make it once, outside of the loop.",
    "recompile-static-object": "A static argument is found again by its hash and equality. Objects that compare by identity are new each "
    "time they are made, whatever they hold. Give the class __eq__ and __hash__, or make it a frozen dataclass.",
    "recompile-pytree": "The structure of the arguments (keys of dicts, lengths of lists, None against an array) is part of what a "
    "program is compiled for.",
    "recompile-call-form": "The same argument given by position and by name, or left to its default, makes different calls of a jitted "
    "function. Write the call the same way each time.",
    "recompile-config": "Some options are part of the program. Set them once, before the first call.",
    "recompile-device": "A program is compiled for the devices and the layout of its arguments across them. Place the data the same way "
    "each time.",
    # static arguments
    "static-unhashable": "A static argument is looked up by its hash, which lists, dicts and arrays have not. Use tuples; arrays are "
    "better traced.",
    "static-mutable-stale": "A static object is read while tracing and then known by its hash alone. What changes inside it later is not "
    "seen. Pass what changes as an argument, or make the class a pytree.",
    # pytrees and classes
    "not-a-jax-type": "Arguments and results are trees of arrays: arrays, numbers, and lists, tuples, dicts and registered classes of "
    "them. Other objects have to be registered, made static, or kept outside.",
    "pytree-init-validates": "Trees are rebuilt with placeholders in the place of arrays: tracers, None, plain objects. A constructor "
    "that checks or converts its arguments fails then. Build the object without it in tree_unflatten.",
    "pytree-array-in-aux": "The static part of a tree is compared with == and is part of the program; an array cannot be compared so. "
    "Put arrays among the children.",
    "pytree-registered-twice": "A class is registered once, for the whole process. A cell that registers a class of another cell fails when it "
    "is run again; one that defines the class, too, registers a new one each time.",
    # randomness
    "key-reuse": "Random functions have no state: the same key gives the same numbers, each time. Split a key into as many as there are "
    "draws, and use each once.",
    "key-not-threaded": "A key that is the same in each iteration, in each row or at each call draws the same numbers there. Scan or vmap "
    "over split keys, or pass the key as an argument. Dropout of a module whose key is from outside has one mask for all steps.",
    # updates and donation
    "item-assignment": "Arrays cannot be changed. `x.at[i].set(v)` gives a new array with the change; compiled, it works in place where "
    "it can. `np.asarray(x)` looks into an array's memory and cannot be written either; `np.array(x)` makes a copy.",
    "update-result-dropped": "Functions give new arrays and change none. A result that is not bound to a name is lost. "
    "So is an optimizer's new state that nobody keeps: each step of Adam is then its first, without a word.",
    "donation-misuse": "A donated argument gives its memory to the result and is gone after the call. Rebind the name to the result, or "
    "do not donate.",
    "numpy-alias-race": "A program may read a NumPy array's memory while it still runs, after the call has returned. A later write to "
    "that array changes what the program reads. Pass a copy.",
    # NaN and differentiation
    "silent-nan": "A compiled program never raises for a value: a NaN goes on to the result. It begins where an operation with finite "
    "operands has none: log(0) times 0, 0/0, inf - inf.",
    "where-grad-nan": "jnp.where computes both of its branches, and the backward pass goes through both: 0 times the infinite slope of "
    "the branch not taken is NaN. Make the argument harmless first, with a where inside.",
    "grad-singular-point": "The function is finite here and its slope is not: sqrt, norm and powers below one at zero. Shift the argument "
    "a little, or use the squared form.",
    "grad-bad-signature": "grad differentiates one real number with respect to floating-point arguments. Sum an array result or use "
    "jacrev; integers have no derivative; has_aux=True is for results that come along.",
    "grad-zero": "Rounding, comparing, argmax and conversion to integers have slope zero everywhere; a result that reaches the argument "
    "only through them has no useful gradient. Use a smooth function in their place.",
    "grad-of-while": "The backward pass needs what each iteration computed, so the number of iterations must be known. Use lax.scan or "
    "a fori_loop with fixed bounds.",
    # host, timing, memory
    "host-call-on-tracer": "Functions of Python and NumPy need a value now; while tracing there is none. Use the function of the same "
    "name in jnp; for what has none, jax.pure_callback.",
    "misleading-timing": "A call returns before its result is there, and the first call compiles as well. Warm up once, and wait with "
    "jax.block_until_ready before the clock is read.",
    "captured-constant": "An array that a function reads from outside is baked into its program: compiled with it, copied for each "
    "version, and never updated. Pass large arrays as arguments.",
    # several devices
    "accidental-replication": "What nobody lays out is whole on each device of the mesh: it takes its memory as often as there are "
    "devices, and is copied or summed to all of them in each run. Say how it is to lie, with device_put or out_shardings.",
    "large-all-gather": "Where a line needs what other devices have, the compiler has them send it: all of the array is on each device "
    "then, and the line waits for it. Cut the axes that the line does not sum, index or reshape, or keep the result cut.",
}
"""An explanation for each id of the catalogue."""

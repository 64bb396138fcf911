"""Can it be read? Size, contrast and overlap of every text that is on screen, in the page and drawn on canvases.

Contrast is measured on a screenshot: the colour of the text against the colour that most of its box has. So it does not
matter how a background came about.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Locator


SMALLEST = 11.0  # px
LEAST_CONTRAST = 4.5

# Every run of text under the element that a person can see now: its boxes in the viewport (cut where an ancestor cuts it),
# its size and its colour as rgba. Text drawn on our canvases comes from the graph's own list of labels.
TEXTS = """root => {
  const found = [], pixel = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    pixel.clearRect(0, 0, 1, 1); pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const visibleBox = (box, element) => {
    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    const cut = b => {
      left = Math.max(left, b.left); top = Math.max(top, b.top); right = Math.min(right, b.right); bottom = Math.min(bottom, b.bottom);
    };
    cut({left: 0, top: 0, right: innerWidth, bottom: innerHeight});
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.overflowX !== 'visible' || style.overflowY !== 'visible' || style.clipPath !== 'none' || style.clip !== 'auto')
        cut(e.getBoundingClientRect());
    }
    return {left, top, right, bottom};
  };
  // Something that lets nothing through (a tooltip, a menu) lies over the text: nobody sees it. Bare text over text counts.
  const onTop = (box, element) => {
    const hit = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    if (!hit || getComputedStyle(element).pointerEvents === 'none') return true;
    for (let e = hit; e && !e.contains(element); e = e.parentElement) {
      const style = getComputedStyle(e);
      if (rgba(e instanceof SVGElement && e.tagName !== 'text' ? style.fill : style.backgroundColor)[3] > 230) return false;
    }
    return true;
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const text = node.data.trim(), element = node.parentElement;
    if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (element.closest('style, script, title, desc, :disabled, button[aria-disabled="true"]')) continue;
    const style = getComputedStyle(element), drawn = element instanceof SVGElement;
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= +getComputedStyle(e).opacity;
    const colour = rgba(drawn ? style.fill : style.color);
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const box = visibleBox(whole, element);
      if (box.right - box.left < 2 || box.bottom - box.top < 4 || !onTop(box, element)) continue;
      const scale = drawn ? Math.abs(element.getScreenCTM()?.d ?? 1) : 1;
      found.push({text, where: element.className?.baseVal ?? element.className, box: [box.left, box.top, box.right, box.bottom],
                  size: parseFloat(style.fontSize) * scale, colour, opacity, layer: 'page'});
    }
  }
  for (const canvas of root.querySelectorAll('.jitscope-graph > canvas:first-child')) {
    const graph = canvas.closest('.jitscope')?.__jitscope?.graph;
    const at = canvas.getBoundingClientRect();
    for (const label of graph?.labels() ?? []) {
      const whole = {left: at.left + label.x, top: at.top + label.y, right: at.left + label.x + label.w, bottom: at.top + label.y + label.h};
      const box = visibleBox(whole, canvas);
      if (box.right - box.left < 2 || box.bottom - box.top < 4 || !onTop(box, canvas)) continue;
      found.push({text: label.text, where: `graph ${label.what} ${label.id}`, box: [box.left, box.top, box.right, box.bottom],
                  size: label.fontPx, colour: rgba(label.colour), opacity: 1, layer: 'canvas'});
    }
  }
  return found;
}"""


Box = tuple[float, float, float, float]  # left, top, right, bottom in the viewport


@dataclass
class Text:
    text: str
    where: str
    box: Box
    size: float
    colour: tuple[int, int, int, int]
    opacity: float
    layer: str

    def __str__(self) -> str:
        return f"{self.text[:60]!r} ({self.where})"


def texts(element: Locator) -> list[Text]:
    """The texts of an element that are on screen now."""
    return [Text(**found) for found in element.evaluate(TEXTS)]


def complaints(element: Locator) -> list[str]:
    """Everything about the visible texts of an element that a reader would complain about."""
    element.scroll_into_view_if_needed()
    return _complaints(element, texts(element))


def assert_readable(element: Locator, at_least: int = 1) -> None:
    """No complaints, and enough text on screen for that to mean something."""
    element.scroll_into_view_if_needed()
    seen = texts(element)
    assert len(seen) >= at_least, f"only {len(seen)} texts are on screen"
    found = _complaints(element, seen)
    assert not found, "\n".join(sorted(set(found)))


def _complaints(element: Locator, found: list[Text]) -> list[str]:
    small = [f"{text} is {text.size:.1f} px" for text in found if text.size < SMALLEST]
    return small + _low_contrasts(found, _picture(element)) + _overlaps(found)


def _picture(element: Locator) -> np.ndarray:
    """What is on screen now: u32[height, width], a pixel's colour in one number, 0xRRGGBB."""
    picture = Image.open(io.BytesIO(element.page.screenshot(scale="css"))).convert("RGB")
    return np.asarray(picture).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)


def _low_contrasts(found: list[Text], picture: np.ndarray) -> list[str]:
    low = []
    for text in found:
        background = _background(picture, text.box)
        alpha = text.colour[3] / 255 * text.opacity
        colour = [c * alpha + b * (1 - alpha) for c, b in zip(text.colour, background, strict=False)]
        ratio = contrast(colour, background)
        if ratio < LEAST_CONTRAST:
            low.append(f"{text} has contrast {ratio:.2f}: {[round(c) for c in colour]} on {background}")
    return low


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast ratio of WCAG 2, between 1 and 21."""
    dark, light = sorted([_luminance(one), _luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    parts = [c / 255 for c in colour]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _background(picture: np.ndarray, box: Box) -> list[int]:
    """The colour that most of a box has."""
    left, top, right, bottom = (round(side) for side in box)
    colours, counts = np.unique(picture[top : max(bottom, top + 1), left : max(right, left + 1)], return_counts=True)
    return list(int(colours[counts.argmax()]).to_bytes(3, "big"))


def _overlaps(found: list[Text]) -> list[str]:
    """Pairs of texts of one layer that cover each other. A text's own box is taller than its letters: the middle counts."""
    overlapping = []
    middles = sorted((_middle(text.box), i) for i, text in enumerate(found))
    for n, (one, i) in enumerate(middles):
        for other, j in middles[n + 1 :]:
            if other[0] >= one[2] - 1:
                break
            covered = min(one[3], other[3]) - max(one[1], other[1]) > 1
            if covered and found[i].layer == found[j].layer:
                overlapping.append(f"{found[i]} and {found[j]} overlap")
    return overlapping


def _middle(box: Box) -> Box:
    left, top, right, bottom = box
    rim = 0.2 * (bottom - top)
    return left, top + rim, right, bottom - rim


_AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"


def axe_findings(view: Locator) -> list[str]:
    """What axe-core says of an element, as far as it is serious."""
    if not view.page.evaluate("() => 'axe' in globalThis"):
        # Not as a <script>: JupyterLab's loader of modules would take it for one of its own.
        view.page.evaluate(f"() => {{ const module = undefined, define = undefined;\n{_AXE.read_text()}\n}}")
    found = view.evaluate("async (element) => (await axe.run(element)).violations")
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {node['html'][:120]}" for v in serious for node in v["nodes"]]

// The view code, loaded when the first view needs it and shared with every widget on the page.

type ViewCode = typeof import("../../widgets/jitscope_widgets/js/index");
let loading: Promise<ViewCode> | undefined;

/** The views and their styles are chunks of their own, which are fetched at the same time. */
export function viewCode(): Promise<ViewCode> {
  return (loading ??= Promise.all([
    import("../../widgets/jitscope_widgets/js/index"),
    import("../../widgets/jitscope_widgets/js/theme.css"),
  ]).then(([code]) => code));
}

/** `globalThis.jitscopeView`: where a widget's loader looks before it asks the kernel. */
export function provideViewCode(): void {
  Object.defineProperty(globalThis, "jitscopeView", { configurable: true, get: viewCode });
}

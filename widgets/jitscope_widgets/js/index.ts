// The view code: everything that draws documents. One self-contained module without requests to anywhere.
export { mount, stage } from "./mount";
export { enliven } from "./enliven";
export { tooltipCard } from "./parts/view";
export { tabs } from "./tabs";
export const version: string = __VERSION__;

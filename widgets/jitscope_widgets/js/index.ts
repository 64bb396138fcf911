// The view code: everything that draws documents. One self-contained module without requests to anywhere.
export { mount } from "./mount";
export { enliven } from "./enliven";
export const version: string = __VERSION__;

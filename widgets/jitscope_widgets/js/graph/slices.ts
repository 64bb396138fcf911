// Long work in short pieces, so that the page never stands still. Work is a generator that yields now and then.

export type Work<T> = Generator<void, T>;

const SLICE_MS = 12;

/** All of it at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Lets the page draw and answer between two pieces. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Piece by piece; undefined when `stopped` says that nobody waits for it any more. */
export async function inSlices<T>(work: Work<T>, stopped: () => boolean = () => false): Promise<T | undefined> {
  for (;;) {
    await pause();
    if (stopped()) return undefined;
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      const { done, value } = work.next();
      if (done) return value;
    }
  }
}

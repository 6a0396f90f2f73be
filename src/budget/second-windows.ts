import { SecondWindow } from './second-window.ts';

/** The second windows of an account, by the name of the bucket. */
export class SecondWindows {
  #windows = new Map<string, SecondWindow>();

  /** The window of a bucket, of which this is to be spent from now on. */
  of(bucket: string, limit: number, utilization: number): SecondWindow {
    let window = this.#windows.get(bucket);
    if (!window) {
      window = new SecondWindow(utilization);
      this.#windows.set(bucket, window);
    }
    window.limit = limit;
    window.utilization = utilization;
    return window;
  }

  /** The bucket turns out to have another name. False: nothing was counted in it. */
  rename(before: string, after: string): boolean {
    const window = this.#windows.get(before);
    if (!window) return false;
    this.#windows.delete(before);
    this.#windows.set(after, window);
    return true;
  }

  /** Nothing is known of buckets any more: what was counted in any of them counts in one of this name. */
  merge(name: string): void {
    const merged = new SecondWindow(1);
    for (const window of this.#windows.values()) merged.include(window);
    this.#windows = new Map([[name, merged]]);
  }
}

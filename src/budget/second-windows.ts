import { SecondWindow } from './second-window.ts';

/** The second windows of an account by bucket name. */
export class SecondWindows {
  #windows = new Map<string, SecondWindow>();

  /** The window of a bucket, with its current limit and utilization. */
  of(bucket: string, limit: number, utilization: number): SecondWindow {
    const window = this.#windows.get(bucket) ?? new SecondWindow();
    this.#windows.set(bucket, window);
    return Object.assign(window, { limit, utilization });
  }

  /** Renames the bucket. False: it had no window. */
  rename(before: string, after: string): boolean {
    const window = this.#windows.get(before);
    if (!window) return false;
    this.#windows.delete(before);
    this.#windows.set(after, window);
    return true;
  }

  /** Replaces all windows by one of this name, in which every request so far counts. */
  merge(name: string): void {
    const merged = new SecondWindow();
    for (const window of this.#windows.values()) merged.include(window);
    this.#windows = new Map([[name, merged]]);
  }
}

import type { Story } from './story.ts';

/** What must always hold and did not. */
export interface Failure {
  /** Names what was checked. Two failures of one check are the same failure. */
  readonly check: string;
  readonly message: string;
  /** ms after the start of the story. */
  readonly at: number;
}

/** Runs a candidate. True: it fails in the same way, and the search continues from it. */
export type Accepts = (candidate: Story) => Promise<boolean>;

interface Limits {
  readonly maxRuns: number;
  readonly isSpent?: () => boolean;
}

/** The simplest failing story so far. */
export class Search {
  readonly #fails: (story: Story) => Promise<Failure | undefined>;
  readonly #limits: Limits;
  /** Every story that was run. It is not run again, so the search ends even if candidates go round in a circle. */
  readonly #tried = new Set<string>();
  #story: Story;
  #failure: Failure;
  #runs = 1;

  private constructor(
    story: Story,
    failure: Failure,
    fails: (story: Story) => Promise<Failure | undefined>,
    limits: Limits,
  ) {
    this.#story = story;
    this.#failure = failure;
    this.#fails = fails;
    this.#limits = limits;
    this.#tried.add(JSON.stringify(story));
  }

  /** @throws TypeError where the story does not fail */
  static async of(
    story: Story,
    fails: (story: Story) => Promise<Failure | undefined>,
    limits: Limits,
  ): Promise<Search> {
    const failure = await fails(story);
    if (!failure) throw new TypeError(`the story of seed ${story.seed} does not fail`);
    return new Search(story, failure, fails, limits);
  }

  get story(): Story {
    return this.#story;
  }

  /** How the story fails. */
  get failure(): Failure {
    return this.#failure;
  }

  get runs(): number {
    return this.#runs;
  }

  async accepts(candidate: Story): Promise<boolean> {
    if (this.#runs >= this.#limits.maxRuns || this.#limits.isSpent?.()) return false;
    const text = JSON.stringify(candidate);
    if (this.#tried.has(text)) return false;
    this.#tried.add(text);
    this.#runs += 1;
    const failure = await this.#fails(candidate);
    if (failure?.check !== this.#failure.check) return false;
    this.#story = candidate;
    this.#failure = failure;
    return true;
  }
}

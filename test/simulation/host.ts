import type { Holder, Host } from '../../src/state/holder.ts';

/** Where processes see each other: a machine, or a container of its own pid namespace. */
export class SimulatedHost {
  readonly #name: string;
  readonly #namespace: string;
  /** When each process was started, by pid. */
  readonly #alive = new Map<number, string>();
  #boots = 1;
  #started = 0;
  #locks = 0;

  /** Containers can have the same name; they differ in the namespace. */
  constructor(name: string, namespace = 'pid:[1]') {
    this.#name = name;
    this.#namespace = namespace;
  }

  /** @param pid In a container, each process may be process 1. */
  start(pid = 100 + this.#started): SimulatedProcess {
    this.#started += 1;
    const started = String(this.#started);
    this.#alive.set(pid, started);
    return {
      pid,
      thisProcess: () => this.#holder(pid, started),
      find: (other) => {
        const found = this.#alive.get(other);
        return found === undefined ? undefined : { started: found, isZombie: false };
      },
      end: () => {
        if (this.#alive.get(pid) === started) this.#alive.delete(pid);
      },
    };
  }

  /** All processes end. Later ones cannot look them up, because it may have been another machine. */
  reboot(): void {
    this.#alive.clear();
    this.#boots += 1;
  }

  #holder(pid: number, started: string): Holder {
    this.#locks += 1;
    const boot = `boot ${this.#boots} of ${this.#name}`;
    const id = `lock ${this.#locks} in ${this.#namespace} of ${this.#name}`;
    return { pid, started, host: this.#name, boot, namespace: this.#namespace, id };
  }
}

/** What a process knows of its host. */
export interface SimulatedProcess extends Host {
  readonly pid: number;
  /** The process dies. */
  end(): void;
}

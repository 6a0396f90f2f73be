/** A deliberate fault of the program, of a kind that a tired engineer could make. The simulation must find it. */
export interface Breakage {
  readonly name: string;
  /** Below src. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong, in one sentence. */
  readonly why: string;
}

/** The source with the fault. @throws TypeError where the text to replace does not occur exactly once */
export function broken(source: string, { name, file, find, replace }: Breakage): string {
  const [before = '', after = '', ...more] = source.split(find);
  if (more.length > 0 || before === source)
    throw new TypeError(`${name}: src/${file} does not have the text exactly once`);
  return `${before}${replace}${after}`;
}

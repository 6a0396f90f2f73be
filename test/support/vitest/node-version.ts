const MIN_MAJOR = 24;

/** Runs before all tests. Without install scripts, npm would silently leave the machine's own Node in use. */
export function setup(): void {
  const problem = nodeProblem(process.versions.node);
  if (problem) throw new Error(problem);
}

/** Why tests cannot run on this version of Node. undefined: they can. */
export function nodeProblem(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return undefined;
  return (
    `The tests need Node ${MIN_MAJOR} or newer, this is ${version}. ` +
    'Run them with `npm test`, after an `npm ci` that may run install scripts: it brings Node 24 into node_modules.'
  );
}

const [LEAST_MAJOR, LEAST_MINOR] = [22, 20];

/** Runs before all tests: an install without install scripts silently leaves the machine's own Node in use. */
export function setup(): void {
  const problem = nodeProblem(process.versions.node);
  if (problem) throw new Error(problem);
}

/** Why tests cannot run on this version of Node; undefined: they can. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return undefined;
  return (
    `The tests need Node ${LEAST_MAJOR}.${LEAST_MINOR} or newer, this is ${version}. ` +
    'Run them with `npm test`, after an `npm ci` that may run install scripts: it brings Node 24 into node_modules.'
  );
}

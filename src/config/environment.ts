export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[A-Za-z_]\w*$/;

/** The value of a variable; an empty one counts as unset, because compose files pass on unset variables as empty. */
export function nonEmpty(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

/** Replaces each `${NAME}` by the environment variable. Problems do not show the text around it: it may be secret. */
export function substitute(text: string, env: Environment): { text: string; problems: string[] } {
  const problems: string[] = [];
  const result = text.replace(/\$\{([^}]*)\}/g, (reference, name: string) => {
    if (!NAME.test(name)) {
      problems.push('expected the name of an environment variable between the braces');
      return reference;
    }
    const value = env[name];
    if (value === undefined) problems.push(`the environment variable ${name} is not set`);
    return value ?? reference;
  });
  return { text: result, problems };
}

/** The environment of a process, as Node.js gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What a child inherits: everything but the settings of Tenure, which it gets as flags (a service refuses those it
 * does not know), and those of a test runner.
 */
export function inheritedEnvironment(environment: Environment): Environment {
  const foreign = /^(TENURE_|VITEST|NODE_OPTIONS$|NODE_ENV$|TEST$)/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !foreign.test(name)));
}

/**
 * The environment that a program of a test inherits: the search path, and the compile cache where CI has one. The tests start
 * programs hundreds of times, and the cache shortens each start.
 */
export function runtimeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE }
}

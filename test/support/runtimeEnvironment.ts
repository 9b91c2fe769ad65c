/**
 * What a program of a test inherits: the search path, and the compile cache where CI has one. The programs are started hundreds of
 * times, and each start compiles less then.
 */
export function runtimeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE }
}

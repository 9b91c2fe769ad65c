// Parts of the client whose code is loaded once they are needed: bundlers make a file of each.
import { ClientError } from './errors.js'
import { methodFailure } from './foreignErrors.js'
import { abortable } from './retry.js'

/** A part, made once. It rejects with the signal's reason as soon as that aborts. @throws ClientError `code-not-loaded` */
export type Later<T> = (signal?: AbortSignal) => Promise<T>

/**
 * Callers share one load. After a failure the next caller loads again: a page may be offline for a while.
 * @param load a dynamic `import()`
 */
export function later<M, T>(load: () => Promise<M>, make: (module: M) => T): Later<T> {
  const made = untilAnswered(async () => make(await load().catch(notLoaded)))
  return (signal) => abortable(made(), signal)
}

function notLoaded(cause: unknown): never {
  const message = 'A part of this page could not be loaded. Check the connection, then reload the page.'
  throw new ClientError('code-not-loaded', message, { cause })
}

type Methods<K extends string> = Record<K, (...args: never[]) => Promise<unknown>>

/** These methods of a part, which load it. */
export function methodsOf<T extends Methods<K>, K extends string>(
  part: Later<T>,
  names: readonly K[],
): Pick<T, K> {
  const methods = names.map((name) => [
    name,
    async (...args: never[]) => {
      try {
        return await (await part(signalIn(args.at(-1))))[name](...args)
      } catch (error) {
        throw methodFailure(error)
      }
    },
  ])
  return Object.fromEntries(methods) as Pick<T, K>
}

/** The signal of a call's options, which are its last argument. */
function signalIn(options: unknown): AbortSignal | undefined {
  const isGiven = typeof options === 'object' && options !== null && 'signal' in options
  return isGiven && options.signal instanceof AbortSignal ? options.signal : undefined
}

/** Callers share one answer; after a failure the next one asks again. */
export function untilAnswered<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined
      throw error
    })
    return answer
  }
}

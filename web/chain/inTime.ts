import { makeError } from 'ethers'

/** What a node may take over one question. A wallet's provider has no limit of its own, and ethers' is five minutes. */
const ANSWER_MS = 30_000

/**
 * The answer to a question, as long as it comes.
 * @throws Error of ethers, `TIMEOUT`, when it has not come in half a minute
 */
export async function inTime<T>(operation: string, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    const giveUp = () =>
      reject(makeError('the node did not answer', 'TIMEOUT', { operation, reason: 'silent' }))
    timer = setTimeout(giveUp, ANSWER_MS)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

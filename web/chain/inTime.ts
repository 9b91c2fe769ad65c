import { makeError } from 'ethers'

/** The time limit of one request to a node. A wallet's provider has none of its own, and ethers' is five minutes. */
const ANSWER_MS = 30_000

/**
 * Waits for a node's answer.
 * @throws Error of ethers, `TIMEOUT`, after half a minute without an answer
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

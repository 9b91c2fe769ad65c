import { ClientError } from '../../src/client/index.js'

/** The time limit of one request to a node. A wallet's provider has none of its own. */
const ANSWER_MS = 30_000

/**
 * Waits for a node's answer.
 * @throws ClientError `node-unavailable` after half a minute without an answer
 */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new ClientError('node-unavailable', 'The node does not answer.'))
    timer = setTimeout(giveUp, ANSWER_MS)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

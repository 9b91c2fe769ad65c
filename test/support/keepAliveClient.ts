import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'

/** A client whose connections are kept alive, and of which there are no more than that. */
export function createKeepAliveClient({ maxSockets = Number.POSITIVE_INFINITY } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets })
  onTestFinished(() => agent.destroy())
  return async (url: string, method: 'GET' | 'POST' = 'GET'): Promise<IncomingMessage> => {
    const [answer] = await once(request(url, { agent, method }).end(), 'response')
    answer.resume()
    await once(answer, 'end')
    return answer
  }
}

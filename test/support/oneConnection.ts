import { once } from 'node:events'
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { onTestFinished } from 'vitest'

/** A client with one connection, which is kept alive: what it asks waits for what it asked before. */
export function createOneConnection() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return async (url: string, options: RequestOptions = {}, body?: string): Promise<IncomingMessage> => {
    const sent = request(url, { ...options, agent })
    const [answer] = await once(sent.end(body), 'response')
    answer.resume()
    await once(answer, 'end')
    return answer
  }
}

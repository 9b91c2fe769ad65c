import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { startHttpServer } from './httpServer.js'

/** No server listens there: the port is reserved, where one that was free a moment ago is soon another test's. */
export const CLOSED_URL = 'http://127.0.0.1:2'

/** An HTTP server that answers as the test says, closed when the test ends; resolves to its URL. */
export async function startRawServer(listener: RequestListener): Promise<string> {
  const { url, stop } = await startHttpServer(listener)
  onTestFinished(stop)
  return url
}

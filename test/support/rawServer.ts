import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { startHttpServer } from './httpServer.js'

/** A URL on loopback where no server listens. */
export async function closedUrl(): Promise<string> {
  const { url, stop } = await startHttpServer(() => {})
  await stop()
  return url
}

/** An HTTP server that answers as the test says, closed when the test ends; resolves to its URL. */
export async function startRawServer(listener: RequestListener): Promise<string> {
  const { url, stop } = await startHttpServer(listener)
  onTestFinished(stop)
  return url
}

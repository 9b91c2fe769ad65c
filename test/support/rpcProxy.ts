import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { SeenCall } from './rpcCalls.js'

/** How the proxy treats requests from now on. */
export type RpcProxyMode = 'forward' | 'hang' | 'drop' | 'garbage' | 'refuse'

export interface RpcProxy {
  readonly url: string
  mode: RpcProxyMode
  /** The methods of each HTTP request seen, oldest first. The question for its chain, asked once, is left out. */
  readonly requests: string[][]
  /** All calls of these requests. */
  readonly calls: SeenCall[]
}

/** Stands before a node, counts what reaches it and fails as told; closed when the test ends. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const requests: string[][] = []
  const seen: SeenCall[] = []
  const proxy: { url: string; mode: RpcProxyMode; requests: string[][]; calls: SeenCall[] } = {
    url: '',
    mode: 'forward',
    requests,
    calls: seen,
  }
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const calls: (SeenCall & { id: number })[] = [JSON.parse(body)].flat()
    const methods = calls.map(({ method }) => method)
    if (methods.join() !== 'eth_chainId') {
      requests.push(methods)
      seen.push(...calls)
    }
    response.setHeader('content-type', 'application/json')
    if (proxy.mode === 'hang') return
    if (proxy.mode === 'drop') request.socket.destroy()
    else if (proxy.mode === 'garbage') response.end('<html>bad gateway</html>')
    else if (proxy.mode === 'refuse') response.end(JSON.stringify(calls.map(refusal)))
    else response.end(await forward(target, body))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  proxy.url = `http://127.0.0.1:${address.port}`
  return proxy
}

async function forward(target: string, body: string): Promise<string> {
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return response.text()
}

/** A provider's answer to a call that exceeds the plan's rate. */
function refusal({ id }: { id: number }) {
  return { jsonrpc: '2.0', id, error: { code: -32_005, message: 'daily request count exceeded' } }
}

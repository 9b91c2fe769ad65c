import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { startRawServer } from './rawServer.js'

/** One call of a batch, with its place in it. */
export interface ProxiedCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly index: number
}

/** A fault of a whole HTTP request. */
export type Fault =
  /** Nothing: the node answers. */
  | 'none'
  /** The connection is cut before the node hears of it. */
  | 'drop'
  /** The node takes it, but its answer is lost. */
  | 'lose'
  /** No answer ever, and the node does not hear of it. */
  | 'hang'
  /** Something that is no JSON-RPC. */
  | 'garbage'

/** An answer in the node's stead: `{result}` or `{error}`. */
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: string } }

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

export const REFUSAL: Answer = { error: { code: -32_005, message: 'daily request count exceeded' } }

/** Stands between a server and a node, and fails as told. Closed when the test ends. */
export async function startFaultProxy(target: string) {
  const requests: string[][] = []
  const url = await startRawServer((request, response) => {
    void handle(request, response).catch(() => request.socket.destroy())
  })
  const proxy = {
    url,
    /** The node's URL. */
    target,
    /** The methods of each HTTP request that arrived, oldest first. The question for its chain, asked once, is left out. */
    requests,
    /** Of each request, or decided on each. */
    fault: 'none' as Fault | ((calls: readonly ProxiedCall[]) => Fault),
    /** Decides on each call; undefined lets the node answer. A call answered here never reaches the node. */
    answer: (_call: ProxiedCall): Answer | undefined => undefined,
    /** Holds the answer to a request until the promise resolves. */
    hold: (_calls: readonly ProxiedCall[]): Promise<void> | undefined => undefined,
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed: Omit<ProxiedCall, 'index'>[] = [JSON.parse(await text(request))].flat()
    const calls = parsed.map((call, index) => ({ ...call, index }))
    const methods = calls.map(({ method }) => method)
    if (methods.join() !== 'eth_chainId') requests.push(methods)
    const fault = typeof proxy.fault === 'function' ? proxy.fault(calls) : proxy.fault
    if (fault === 'hang') return
    if (fault === 'drop') return cut(request)
    await proxy.hold(calls)
    const answers = await answerAll(calls)
    if (fault === 'lose') return cut(request)
    response.setHeader('content-type', 'application/json')
    response.end(fault === 'garbage' ? '<html>bad gateway</html>' : JSON.stringify(answers))
  }

  async function answerAll(calls: ProxiedCall[]): Promise<unknown[]> {
    const own = calls.map((call) => ({ call, answer: proxy.answer(call) }))
    const forwarded = await forward(
      proxy.target,
      own.filter(({ answer }) => answer === undefined).map(({ call }) => call),
    )
    const answered = own.flatMap(({ call, answer }) =>
      answer ? [{ jsonrpc: '2.0', id: call.id, ...answer }] : [],
    )
    return [...forwarded, ...answered]
  }

  return proxy
}

function cut(request: IncomingMessage): void {
  request.socket.destroy()
}

async function forward(target: string, calls: ProxiedCall[]): Promise<unknown[]> {
  if (calls.length === 0) return []
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }))),
  })
  const answers: unknown = await response.json()
  return Array.isArray(answers) ? answers : [answers]
}

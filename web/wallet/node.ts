import * as z from 'zod/mini'
import { ClientError, type Eip1193Provider } from '../../src/client/index.js'
import type { DemoWallet } from '../settings.js'
import type { FoundWallet } from './discovery.js'

const answerSchema = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string(), data: z.optional(z.unknown()) }) }),
  z.object({ result: z.unknown() }),
])

/** An error in the form of EIP-1193; its code is the node's, or the status of its HTTP answer. */
class RpcError extends Error {
  override readonly name = 'RpcError'

  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message)
  }
}

/** A node as a wallet's provider (EIP-1193) that holds no account. */
export function nodeProvider(rpcUrl: string): Eip1193Provider {
  let id = 0
  return {
    async request({ method, params = [] }) {
      id += 1
      const response = await fetch(rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      })
      const text = await (method === 'eth_getLogs' ? eventsText(response) : response.text())
      const { data: answer } = answerSchema.safeParse(parsed(text))
      // Some nodes refuse a long range of blocks with a status of 400.
      if (answer !== undefined && 'error' in answer) {
        throw new RpcError(answer.error.code, answer.error.message, answer.error.data)
      }
      if (!response.ok) throw new RpcError(response.status, `The node answers ${response.status}.`, undefined)
      if (answer === undefined)
        throw new ClientError('unexpected-answer', 'The node does not answer in JSON-RPC.')
      return answer.result
    },
  }
}

/** The events that a browser parses in half of what may hold up a frame. */
const MOST_BYTES = 2_000_000

/** @throws ClientError `too-much-to-read`, at which a list asks for fewer blocks */
async function eventsText({ body, headers }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const reader = body?.getReader()
  for (let bytes = Number(headers.get('content-length')); bytes <= MOST_BYTES; bytes = text.length) {
    const next = await reader?.read()
    if (next?.value === undefined) return text + decoder.decode()
    text += decoder.decode(next.value, { stream: true })
  }
  await reader?.cancel()
  throw new ClientError('too-much-to-read', 'The answer of the node is too long for a page.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const ACCOUNT_METHODS = new Set(['eth_requestAccounts', 'eth_accounts'])

/** One of a local chain's accounts as a wallet: the chain itself signs, without asking. */
export function demoWallet({ name, part, address }: DemoWallet, rpcUrl: string): FoundWallet {
  const node = nodeProvider(rpcUrl)
  return {
    ...{ id: `demo:${address}`, name, icon: null, demo: part },
    provider: {
      request: async (asked) => (ACCOUNT_METHODS.has(asked.method) ? [address] : node.request(asked)),
    },
  }
}

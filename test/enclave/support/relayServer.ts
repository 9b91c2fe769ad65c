// A relay for tests: it carries authorizations to the chain at once, as the real one does in the end.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isCallException, type JsonRpcProvider } from 'ethers'
import { encodeAuthorizationCall, targetOf } from '../../../src/chain/authorizationCall.js'
import { revertOf } from '../../../src/chain/reverts.js'
import { waitForReceipt } from '../../../src/chain/waitForReceipt.js'
import { type SignedAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { TestChain } from '../../support/chain.js'
import { startHttpServer } from '../../support/httpServer.js'

export const RELAY_TOKEN = 'relay-token-of-32-characters-or-more'

/** Treats the next request otherwise than by carrying it to the chain. */
export type RelayFault =
  /** Nothing is wrong with this one. */
  | 'pass'
  /** Taken, answered 202, and sent to the chain when `land()` is called. */
  | 'withhold'
  /** Taken and sent, but the connection is cut before the answer. */
  | 'lose-answer'
  /** Not taken: the connection is cut. */
  | 'cut'
  | { status: number; body?: object }

export interface RelayServer {
  url: string
  /** Everything that was posted with the right token. */
  posted: SignedAuthorization[]
  /** Applies to the next requests, one each. */
  faults: RelayFault[]
  /** Sends the withheld calls, and drops those that revert by now, as a real node does. */
  land(): Promise<void>
  stop(): Promise<void>
}

export async function startRelayServer(chain: TestChain): Promise<RelayServer> {
  const posted: SignedAuthorization[] = []
  const faults: RelayFault[] = []
  const withheld: SignedAuthorization[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${RELAY_TOKEN}`) return reply(response, 401, {})
    // The enclave's look.
    if (request.method === 'GET') return reply(response, 404, {})
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const authorization = signedAuthorizationSchema.parse(body)
    posted.push(authorization)
    const fault = faults.shift()
    if (fault === 'cut') return void request.socket.destroy()
    if (typeof fault === 'object') return reply(response, fault.status, fault.body ?? {})
    if (fault === 'withhold') {
      withheld.push(authorization)
      return reply(response, 202, receiptOf(authorization, chain, 'submitted'))
    }
    const revert = await carry(chain, authorization)
    if (fault === 'lose-answer') return void request.socket.destroy()
    if (revert) return reply(response, 422, problem(revert))
    reply(response, 200, receiptOf(authorization, chain, 'confirmed'))
  }

  const server = await startHttpServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      reply(response, 500, { message: String(error) })
    })
  })
  return {
    ...server,
    posted,
    faults,
    async land() {
      for (const authorization of withheld.splice(0)) await carry(chain, authorization)
    },
  }
}

async function carry(chain: TestChain, authorization: SignedAuthorization) {
  const { provider } = chain
  const from = chain.account('relayer')
  const to = targetOf(authorization.primaryType, chain.addresses)
  const data = encodeAuthorizationCall(authorization)
  const revert = await revertOfCall(provider, { from, to, data })
  if (revert) return revert
  const hash: unknown = await provider.send('eth_sendTransaction', [{ from, to, data }])
  const receipt = await waitForReceipt(provider, String(hash))
  if (receipt?.status !== 1) throw new Error('an authorization failed in its block')
  return null
}

async function revertOfCall(provider: JsonRpcProvider, call: { from: Hex; to: Hex; data: Hex }) {
  try {
    await provider.send('eth_call', [call, 'latest'])
    return null
  } catch (error) {
    if (!(error instanceof Error) || !isCallException(error)) throw error
    return revertOf(error)
  }
}

function receiptOf({ primaryType }: SignedAuthorization, chain: TestChain, status: string) {
  const now = new Date().toISOString()
  return {
    digest: `0x${'00'.repeat(32)}`,
    primaryType,
    target: targetOf(primaryType, chain.addresses),
    status,
    txHash: null,
    blockNumber: null,
    gasUsed: null,
    createdAt: now,
    updatedAt: now,
    error: null,
  }
}

function problem(revert: { name: string; args: Record<string, string> }) {
  return {
    type: 'https://example.com/errors#would-revert',
    title: 'The transaction would revert',
    status: 422,
    detail: 'The transaction would revert.',
    instance: '/relay',
    code: 'would-revert',
    requestId: 'test',
    revert,
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

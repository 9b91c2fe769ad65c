// An enclave that waits for its keys, by the program's own routes. Its evidence is of the root of the vectors.
import { text } from 'node:stream/consumers'
import { digest, starting, withMembers } from '../../scripts/attestation/base.js'
import type { DocumentParts } from '../../scripts/attestation/documents.js'
import { createGathering, type Secrets } from '../../src/enclave/attested/gathering.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { IntentDomain } from '../../src/protocol/intentDomain.js'
import { startHttpServer } from '../support/httpServer.js'
import { createLogLines } from '../support/logLines.js'

/** What is otherwise with an enclave: its document, or its statement. */
export interface Fault {
  readonly members?: DocumentParts['members']
  readonly statement?: object
  /** What it says, in place of a statement of this kind. */
  readonly text?: string
}

export async function useStartingEnclave(
  cleanUp: AsyncDisposableStack,
  { holders, domain, fault }: { holders: readonly Hex[]; domain: IntentDomain; fault: Fault },
) {
  const born: Secrets[] = []
  const posts: string[] = []
  const { routes } = createGathering({
    config: {
      ...{ CHAIN_ID: domain.chainId, ORDER_ESCROW_ADDRESS: domain.escrow },
      ...{ MASTER_KEY_HOLDERS: [...holders], MASTER_KEY_THRESHOLD: 2 },
    },
    evidence: {
      async starting(sealKey, shares) {
        const stated = { sealKey, escrow: domain.escrow, ...(shares && { shares }), ...fault.statement }
        const statement = fault.text ?? starting(stated)
        const { attestation } = await withMembers({ user_data: await digest(statement), ...fault.members })
        return { format: 'aws-nitro', ...attestation, statement }
      },
    },
    isReady: false,
    refusalOfKeys: async () => undefined,
    ready: async (secrets) => void born.push(secrets),
    logger: createLogLines().logger,
  })
  const server = await startHttpServer(async (req, res) => {
    const { url = '', method, headers } = req
    const body = await text(req)
    if (method === 'POST' && url === '/provisioning') posts.push(body)
    const route = routes[url]?.[method === 'POST' ? 'POST' : 'GET']
    const answer = await route?.({ text: body, headers, query: new URLSearchParams() })
    if (typeof answer === 'object') return res.end(JSON.stringify(answer))
    const problem = { type: '', title: '', detail: '', instance: '', requestId: '', status: 409 }
    res.writeHead(409).end(JSON.stringify({ ...problem, code: answer }))
  })
  cleanUp.defer(server.stop)
  return {
    url: server.url,
    /** Bodies of `POST /provisioning`. */
    posts,
    /** What it was born with, once it was. */
    born: (): readonly Secrets[] => born,
  }
}

// An enclave that waits for its keys, of the functions that the enclave's program is made of. Its evidence is of the root of the vectors.
import { text } from 'node:stream/consumers'
import { digest, starting, withMembers } from '../../scripts/attestation/base.js'
import type { DocumentParts } from '../../scripts/attestation/documents.js'
import { createShareCollector, drawMaster, shareMaster } from '../../src/enclave/keys/born.js'
import type { Envelope } from '../../src/protocol/envelope.js'
import { ProtocolError } from '../../src/protocol/errors.js'
import { type Bytes, bytesToHex, type Hex } from '../../src/protocol/hex.js'
import type { IntentDomain } from '../../src/protocol/intentDomain.js'
import { openShare } from '../../src/protocol/masterShare.js'
import {
  assertFoundingSigned,
  assertProvisionSigned,
  type BrokerKeys,
  foundingRequestSchema,
  openBrokerKeys,
  type Provisioned,
  provisionSchema,
  sharesDigest,
} from '../../src/protocol/provisioning.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { startHttpServer } from '../support/httpServer.js'

/** What is otherwise with an enclave: its document, its statement, or the shares that it shows. */
export interface Fault {
  readonly members?: DocumentParts['members']
  readonly statement?: object
  /** What it says, in place of a statement of this kind. */
  readonly text?: string
  readonly showing?: (shares: Envelope[]) => Envelope[]
}

const THRESHOLD = 2

export async function useStartingEnclave(
  cleanUp: AsyncDisposableStack,
  { holders, domain, fault = {} }: { holders: readonly Hex[]; domain: IntentDomain; fault?: Fault },
) {
  const key = drawMaster()
  const sealKey = publicKeyOf(key)
  const collector = createShareCollector()
  const state: { master?: Bytes; founded?: Bytes; brokerKeys?: BrokerKeys } = {}
  const given: Hex[] = []
  const posts: string[] = []

  async function evidence(stated: object) {
    const statement =
      fault.text ?? starting({ sealKey, escrow: domain.escrow, ...stated, ...fault.statement })
    const { attestation } = await withMembers({ user_data: await digest(statement), ...fault.members })
    return { format: 'aws-nitro', ...attestation, statement }
  }

  async function found(body: string) {
    assertFoundingSigned(foundingRequestSchema.parse(JSON.parse(body)).signature, sealKey, holders[0] ?? '0x')
    state.founded = drawMaster()
    const shares = await shareMaster(state.founded, holders, { threshold: THRESHOLD, domain })
    return {
      ...(await evidence({ shares: sharesDigest(shares) })),
      shares: fault.showing?.(shares) ?? shares,
    }
  }

  async function provision(body: string): Promise<Provisioned> {
    const posted = provisionSchema.parse(JSON.parse(body))
    if (!holders.includes(posted.holder)) throw new ProtocolError('wrong-signer', 'no holder')
    assertProvisionSigned(posted, sealKey)
    const share = await openShare(posted.envelope, key, ['share-for-enclave', domain])
    if (posted.brokerKeys) state.brokerKeys = await openBrokerKeys(posted.brokerKeys, key, domain)
    const master = await collector.add(posted.holder, share)
    if (master) state.master = master
    given.push(posted.holder)
    const hasBrokerKeys = state.brokerKeys !== undefined
    return {
      given,
      threshold: THRESHOLD,
      hasBrokerKeys,
      isReady: hasBrokerKeys && state.master !== undefined,
    }
  }

  const server = await startHttpServer(async (req, res) => {
    const body = await text(req)
    const answer = (status: number, value: object) => res.writeHead(status).end(JSON.stringify(value))
    const problem = { type: '', detail: '', instance: '', requestId: '' }
    if (state.master && state.brokerKeys)
      return answer(409, { ...problem, status: 409, code: 'keys-present', title: 'Keys present' })
    if (`${req.method} ${req.url}` === 'GET /provisioning') return answer(200, await evidence({}))
    if (req.url === '/provisioning/founding') return answer(200, await found(body))
    posts.push(body)
    return provision(body).then(
      (provisioned) => answer(200, provisioned),
      () =>
        answer(403, { ...problem, status: 403, code: 'unknown-holder', title: 'No holder of this enclave' }),
    )
  })
  cleanUp.defer(server.stop)
  return {
    url: server.url,
    /** Bodies of `POST /provisioning`. */
    posts,
    masters: () => ({
      founded: state.founded && bytesToHex(state.founded),
      born: state.master && bytesToHex(state.master),
    }),
    brokerKeys: () => state.brokerKeys,
  }
}

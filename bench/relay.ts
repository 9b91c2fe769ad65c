import { setTimeout as sleep } from 'node:timers/promises'
import { encodeAuthorizationCall } from '../src/chain/authorizationCall.js'
import { type RpcCall, resultOf, smallQuantitySchema } from '../src/chain/jsonRpc.js'
import type { SignedAuthorization } from '../src/protocol/authorization.js'
import type { SandboxAccount } from '../src/sandbox/accounts.js'
import { createPrivateKey, createRelayerSigner } from '../src/server/signer/signer.js'
import { Secret } from '../src/service/secret.js'
import { ENCLAVE_SIGNER } from '../test/support/roles.js'
import { type BenchContext, type Cells, type Figure, ratio } from './support/figure.js'
import { type Generator, type LoadRequest, takeTurn } from './support/load.js'
import { startPeer } from './support/peers.js'
import { cpuMs, type Target } from './support/processes.js'
import {
  MOST_CALLERS,
  RELAY_HEADERS,
  type RelayChain,
  relayRequest,
  startRelayChain,
  startRelayServer,
} from './support/relayChain.js'

const PER_ROUND = 4 * MOST_CALLERS
/** Fewer, because the plain relay takes so much longer. */
const PLAIN_PER_ROUND = MOST_CALLERS
const BARS = { ceiling: 0.5, plain: 10 }

export const relay: Figure = {
  name: 'relay',
  title: 'POST /relay',
  async prepare(context) {
    const chain = await startRelayChain(context)
    const [ceiling, ours, ...others] = chain.accounts
    if (ceiling === undefined || ours === undefined) throw new Error('the chain has too few accounts')
    const server = await startRelayServer(chain, context, [ours])
    const nextWrites = { ceiling: await chain.portfolios(PER_ROUND), ours: await chain.portfolios(PER_ROUND) }
    const { loadAll } = context.generator
    return {
      rows: {
        ceiling: () => sendStraight(chain, context.generator, ceiling, nextWrites.ceiling()),
        ours: async () => {
          const authorizations = nextWrites.ours()
          const cells = await relayAll(chain, loadAll, server, authorizations)
          await chain.assertEffective(authorizations)
          return cells
        },
        plain: plainTurn(chain, context, others),
      },
      bars: [
        ratio('requests/s', 'ours', 'ceiling', { atLeast: BARS.ceiling }),
        ratio('requests/s', 'ours', 'plain', { atLeast: BARS.plain }),
      ],
      notes: [
        `${MOST_CALLERS} callers and as many under way; of ceiling and ours, all found to have taken effect`,
      ],
    }
  },
}

/** Has authorizations relayed, each until it is final. */
export async function relayAll(
  { anvil }: RelayChain,
  load: Generator['load'],
  target: Target,
  authorizations: readonly SignedAuthorization[],
): Promise<Cells> {
  const before = await cpuMs(anvil.pid)
  const cells = await takeTurn(load, target, {
    connections: MOST_CALLERS,
    requests: authorizations.map(relayRequest),
    headers: RELAY_HEADERS,
    durationMs: null,
    expectedStatus: 200,
  })
  return { ...cells, ...nodeCells((await cpuMs(anvil.pid)) - before, authorizations.length) }
}

function nodeCells(tookMs: number, count: number): Cells {
  return { 'least CPU µs of the node': (tookMs * 1_000) / count }
}

/** A request that fails leaves a nonce that all later ones wait for: the next round has a new process and account. */
function plainTurn(
  chain: RelayChain,
  { cleanUp, generator }: BenchContext,
  accounts: readonly SandboxAccount[],
) {
  const left = [...accounts]
  let current: { peer: Target; nextWrites: () => SignedAuthorization[] } | undefined

  async function start() {
    const { privateKey } = left.shift() ?? { privateKey: '' }
    const { rpcUrl, chainId } = chain.anvil
    const ledger = chain.addresses.confidentialLedger
    const task = { rpcUrl, chainId, ledger, privateKey, signer: ENCLAVE_SIGNER }
    const peer = await startPeer(cleanUp, { kind: 'plainRelay', ...task })
    return { peer, nextWrites: await chain.portfolios(PLAIN_PER_ROUND) }
  }

  return async () => {
    current ??= await start()
    const { peer, nextWrites } = current
    const cells = await relayAll(chain, generator.load, peer, nextWrites())
    if (cells['most failed'] !== 0) current = undefined
    return cells
  }
}

/** Calls of one request. */
const BATCH = 256
/** Requests under way at once, so that the node never waits for us. */
const AT_ONCE = 2
const LOOK_MS = 10
/** More than any of these calls uses. */
const GAS_LIMIT = 1_000_000n
const FEES = { type: 2, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const

/**
 * The limit of the node itself: transactions signed beforehand and sent straight to it in batches, each asked for with one
 * `eth_call`. Nothing else is checked, stored or followed.
 */
async function sendStraight(
  { rpc, anvil, addresses, assertEffective }: RelayChain,
  { loadAll }: Generator,
  { address, privateKey }: SandboxAccount,
  authorizations: readonly SignedAuthorization[],
): Promise<Cells> {
  const mined = async () => {
    const [answer] = await rpc.send([{ method: 'eth_getTransactionCount', params: [address, 'latest'] }])
    return resultOf(answer, smallQuantitySchema)
  }
  const first = await mined()
  const signer = createRelayerSigner(createPrivateKey(new Secret(privateKey)))
  const ready = authorizations.map(async (authorization, index): Promise<RpcCall[]> => {
    const call = { to: addresses.confidentialLedger, data: encodeAuthorizationCall(authorization) }
    const around = { chainId: anvil.chainId, nonce: first + index, gasLimit: GAS_LIMIT, fees: FEES }
    const { raw } = await signer.sign({ ...call, ...around })
    return [
      { method: 'eth_call', params: [{ from: address, ...call }, 'latest'] },
      { method: 'eth_sendRawTransaction', params: [raw] },
    ]
  })
  const calls = (await Promise.all(ready)).flat().map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const requests: LoadRequest[] = []
  for (let at = 0; at < calls.length; at += BATCH) {
    requests.push({ method: 'POST', path: '/', body: JSON.stringify(calls.slice(at, at + BATCH)) })
  }
  const before = await cpuMs(anvil.pid)
  const startedAt = performance.now()
  await loadAll({ urls: [anvil.rpcUrl], requests, connections: AT_ONCE, durationMs: null })
  while ((await mined()) < first + authorizations.length) await sleep(LOOK_MS)
  const perSecond = (authorizations.length * 1_000) / (performance.now() - startedAt)
  const node = nodeCells((await cpuMs(anvil.pid)) - before, authorizations.length)
  await assertEffective(authorizations)
  return { 'requests/s': perSecond, ...node }
}

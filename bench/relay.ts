import { setTimeout as sleep } from 'node:timers/promises'
import { encodeAuthorizationCall } from '../src/chain/authorizationCall.js'
import type { SignedAuthorization } from '../src/protocol/authorization.js'
import type { SandboxAccount } from '../src/sandbox/accounts.js'
import { createPrivateSigner } from '../src/server/signer/signer.js'
import { Secret } from '../src/service/secret.js'
import { ENCLAVE_SIGNER } from '../test/support/roles.js'
import { type Cells, type Figure, ratio } from './support/figure.js'
import { type Generator, type LoadRequest, takeTurn } from './support/load.js'
import { startPeer } from './support/peers.js'
import { startServerBeside } from './support/platform.js'
import { cpuMs } from './support/platformProcesses.js'
import type { Target } from './support/processes.js'
import { MOST_CALLERS, type RelayChain, relayRequests, startRelayChain } from './support/relayChain.js'

const PER_ROUND = 2 * MOST_CALLERS
const BAR = 4

export const relay: Figure = {
  name: 'relay',
  title: 'POST /relay',
  async prepare(context) {
    const { cleanUp, generator } = context
    const chain = await startRelayChain(context)
    const [first, second, ...left] = chain.anvil.accounts
    if (first === undefined || second === undefined) throw new Error('the chain has too few accounts')
    const server = await startServerBeside(context, chain.settings(second))
    // The same for both, because a node's block takes longer with each portfolio that there is.
    const nextWrites = await chain.portfolios(PER_ROUND)
    const startPlain = async (tuned: boolean) => {
      const account = left.shift()
      if (account === undefined) throw new Error('the chain has too few accounts')
      const { privateKey } = account
      const { rpcUrl, chainId } = chain.anvil
      const ledger = chain.addresses.confidentialLedger
      const task = { rpcUrl, chainId, ledger, privateKey, signer: ENCLAVE_SIGNER, tuned }
      const peer = await startPeer(cleanUp, { kind: 'plainRelay', ...task })
      return { peer, nextWrites: await chain.portfolios(PER_ROUND) }
    }
    const plainTurn = (tuned: boolean) => {
      let plain: Awaited<ReturnType<typeof startPlain>> | undefined
      return async () => {
        plain ??= await startPlain(tuned)
        const cells = await relayAll(chain, generator.load, plain.peer, plain.nextWrites())
        // A request that fails leaves a nonce that all later ones wait for: the next round has a new process and account.
        if (cells['most failed'] !== 0) plain = undefined
        return cells
      }
    }
    return {
      rows: {
        ceiling: () => sendStraight(chain, generator, first, nextWrites()),
        async ours() {
          const authorizations = nextWrites()
          const cells = await relayAll(chain, generator.loadAll, server, authorizations)
          await chain.assertEffective(authorizations)
          return cells
        },
        plain: plainTurn(false),
        tuned: plainTurn(true),
      },
      bars: [
        ratio('requests/s', 'ours', 'plain', { atLeast: BAR }),
        ratio('requests/s', 'ours', 'tuned'),
        ratio('requests/s', 'ours', 'ceiling'),
      ],
      notes: [`${MOST_CALLERS} callers; of ceiling and ours, all found to have taken effect`],
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
    ...relayRequests(authorizations),
    connections: MOST_CALLERS,
    durationMs: null,
    expectedStatus: 200,
  })
  return { ...cells, ...nodeCells((await cpuMs(anvil.pid)) - before, authorizations.length) }
}

function nodeCells(tookMs: number, count: number): Cells {
  return { 'least CPU µs of the node': (tookMs * 1_000) / count }
}

/** Transactions of one request. */
const BATCH = 128
/** Requests under way at once, so that the node never waits for us. */
const AT_ONCE = 2
const LOOK_MS = 10
/** More than any of these calls uses, and 75 of them fit into a block. */
const GAS_LIMIT = 400_000n
const FEES = { type: 2, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const

/**
 * The limit of the node itself: transactions signed beforehand and sent straight to it in batches, each asked for with one
 * `eth_call`. Nothing else is checked, stored or followed.
 */
async function sendStraight(
  { provider, anvil, addresses, assertEffective }: RelayChain,
  { loadAll }: Generator,
  { address, privateKey }: SandboxAccount,
  authorizations: readonly SignedAuthorization[],
): Promise<Cells> {
  const first = await provider.getTransactionCount(address)
  const signer = createPrivateSigner(new Secret(privateKey))
  const signed = await Promise.all(
    authorizations.map(async (authorization, index) => {
      const call = { to: addresses.confidentialLedger, data: encodeAuthorizationCall(authorization) }
      const around = { chainId: anvil.chainId, nonce: first + index, gasLimit: GAS_LIMIT, fees: FEES }
      const { raw } = await signer.sign({ ...call, ...around })
      const asked = { method: 'eth_call', params: [{ from: address, ...call }, 'latest'] }
      return [asked, { method: 'eth_sendRawTransaction', params: [raw] }]
    }),
  )
  const requests: LoadRequest[] = []
  for (let at = 0; at < signed.length; at += BATCH) {
    const calls = signed.slice(at, at + BATCH).flat()
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    requests.push({ method: 'POST', path: '/', body })
  }
  const before = await cpuMs(anvil.pid)
  const startedAt = performance.now()
  await loadAll({ urls: [anvil.rpcUrl], requests, connections: AT_ONCE, durationMs: null })
  const last = first + authorizations.length
  while ((await provider.getTransactionCount(address)) < last) await sleep(LOOK_MS)
  const perSecond = (authorizations.length * 1_000) / (performance.now() - startedAt)
  const node = nodeCells((await cpuMs(anvil.pid)) - before, authorizations.length)
  await assertEffective(authorizations)
  return { 'requests/s': perSecond, ...node }
}

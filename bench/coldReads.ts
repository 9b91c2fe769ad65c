import { randomBytes } from 'node:crypto'
import { createLenses } from '../src/chain/lenses.js'
import { RpcProvider } from '../src/chain/provider.js'
import { checksum } from '../src/protocol/address.js'
import { bytesToHex, type Hex } from '../src/protocol/hex.js'
import type { Figure } from './support/figure.js'
import { quantile } from './support/statistics.js'

const READS = 500
const TIMEOUT_MS = 10_000
const ADDRESS_BYTES = 20

/** Reads of what nobody has asked for, one after the other, beside the request to the node that each of them costs. */
export const coldReads: Figure = {
  name: 'cold-reads',
  title: 'Cold GET /wallet/:address, and the round trip to the node',
  async measure({ platform }) {
    const { sandbox, server } = await platform()
    const { rpcUrl, chainId, contracts } = sandbox.info
    const wallets = Array.from({ length: 2 * READS }, () => checksum(bytesToHex(randomBytes(ADDRESS_BYTES))))
    const read = async (wallet: string) => {
      const response = await fetch(`${server.url}/wallet/${wallet}`)
      if (!response.ok) throw new Error(`GET /wallet answered ${response.status}`)
      await response.arrayBuffer()
    }
    // As the server asks: ethers' own provider would wait 10 ms for further questions.
    const lenses = createLenses(
      new RpcProvider({ urls: [rpcUrl], timeoutMs: TIMEOUT_MS, chainId }),
      contracts,
    )
    for (const wallet of wallets.slice(0, READS)) {
      await read(wallet)
      await lenses.wallet(wallet)
    }
    const rows = [
      {
        what: 'GET /wallet/:address, a wallet that nobody has asked for',
        ...(await timed(wallets.slice(READS), read)),
      },
      {
        what: 'its question, straight to the node',
        ...(await timed(wallets.slice(READS), (wallet) => lenses.wallet(wallet))),
      },
    ]
    return { kind: 'latencies', rows, notes: [`${READS} of each, one after the other, on loopback`] }
  },
}

async function timed(wallets: readonly Hex[], act: (wallet: Hex) => Promise<unknown>) {
  const latencies: number[] = []
  for (const wallet of wallets) {
    const startedAt = performance.now()
    await act(wallet)
    latencies.push(performance.now() - startedAt)
  }
  const sorted = Float64Array.from(latencies).sort()
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) }
}

import { Interface } from 'ethers'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { toQuantity } from '../../src/chain/quantity.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { castAccounts } from '../../src/sandbox/accounts.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { deployAll, localProvider } from '../../src/sandbox/localChain.js'
import { drawSecrets, publicIdentity } from '../../src/sandbox/secrets.js'
import { bareEnvironment } from './bareEnvironment.js'

/** A chain of its own with many events on it. */
export interface EventChain {
  readonly rpcUrl: string
  /** Of a server that would narrate it. */
  readonly env: Record<string, string>
  /** The block before the first event, and the last one. */
  readonly from: number
  readonly to: number
  readonly events: number
  stop(): Promise<void>
}

const EVENTS_PER_BLOCK = 200
const GAS_LIMIT = 10_000_000

/**
 * In the escrow's place, code that emits `OrderOpened` as often as its first argument says: what a real order costs the
 * node is not what is measured. A loop of LOG3 with the count as amount and orderId, and the caller as the account.
 */
function emitter(): string {
  const topic = new Interface(orderEscrowAbi).getEvent('OrderOpened')?.topicHash.slice(2)
  if (topic === undefined) throw new Error('the escrow has no OrderOpened')
  const emitOne = `5b8060005233817f${topic}60606000a3`
  return `0x600035${emitOne}6001900380600357`
}

/** @param events a multiple of those of one block */
export async function startEventChain(events: number): Promise<EventChain> {
  const anvil = await startAnvil()
  const provider = localProvider(anvil.rpcUrl, anvil.chainId)
  const stop = async () => {
    provider.destroy()
    await anvil.stop()
  }
  try {
    const accounts = castAccounts(anvil)
    const secrets = drawSecrets()
    const { enclaveSigner } = publicIdentity(secrets)
    const { contracts } = await deployAll(provider, accounts, enclaveSigner)
    await provider.send('anvil_setCode', [contracts.orderEscrow, emitter()])
    const from = await provider.getBlockNumber()
    const blocks = Math.ceil(events / EVENTS_PER_BLOCK)
    const call = {
      from: accounts.relayer.address,
      to: contracts.orderEscrow,
      data: `0x${EVENTS_PER_BLOCK.toString(16).padStart(64, '0')}`,
      gas: toQuantity(GAS_LIMIT),
    }
    for (let block = 0; block < blocks; block++) {
      const hash: unknown = await provider.send('eth_sendTransaction', [call])
      if (block === blocks - 1) await waitForReceipt(provider, String(hash))
    }
    const env = bareEnvironment({
      rpcUrl: anvil.rpcUrl,
      chainId: anvil.chainId,
      contracts,
      secrets,
      relayerPrivateKey: accounts.relayer.privateKey,
      enclaveSigner,
    })
    const to = await provider.getBlockNumber()
    return { rpcUrl: anvil.rpcUrl, env, from, to, events: blocks * EVENTS_PER_BLOCK, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

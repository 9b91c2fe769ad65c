// Wallets of a sandbox, as many as are wanted, and what they send at the chain's cost.
import { utils } from '@noble/secp256k1'
import { computeAddress, Interface, type JsonRpcProvider, toQuantity } from 'ethers'
import * as z from 'zod'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { checksum } from '../../src/protocol/address.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { Call } from '../../src/sandbox/localChain.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'

/** A block of 30 M gas takes 75 of them. */
const GAS_LIMIT = 400_000
const MAX_FEE = 100_000_000_000n
const BASE_FEE = 1_000_000_000n
const WEI = 10n ** 18n
const quantity = z.string().transform(Number)
const poolSchema = z.object({ pending: quantity, queued: quantity })
const token = new Interface(equityTokenAbi)

/** Wallets with ether and KYC, in no institution. */
export async function createWallets(sandbox: Sandbox, count: number): Promise<SandboxAccount[]> {
  const { provider, info, accounts } = sandbox
  const wallets = Array.from({ length: count }, (): SandboxAccount => {
    const privateKey = bytesToHex(utils.randomSecretKey())
    return { address: checksum(computeAddress(privateKey)), privateKey }
  })
  await Promise.all(
    wallets.flatMap(({ address }) => [
      provider.send('anvil_setBalance', [address, toQuantity(WEI)]),
      provider.send('anvil_impersonateAccount', [address]),
    ]),
  )
  const { equityToken: to } = info.contracts
  const kyc = ({ address }: SandboxAccount) => ({ to, abi: token, method: 'setKyc', args: [address, true] })
  await sendFrom(provider, accounts.owner.address, wallets.map(kyc))
  await untilMined(provider)
  return wallets
}

/**
 * The chain signs for the account: signing thousands of transactions here would take longer than the measuring. What an account sent
 * before has to be mined: while anvil mines a block, it counts too few pending transactions. It mines none meanwhile, because one that
 * comes while the one before is mined can wait in its pool for good.
 */
export async function sendFrom(provider: JsonRpcProvider, from: Hex, calls: readonly Call[]): Promise<void> {
  const rhythm: unknown = await provider.send('anvil_getIntervalMining', [])
  await provider.send('evm_setIntervalMining', [0])
  const first = await provider.getTransactionCount(from, 'pending')
  await Promise.all(
    calls.map(({ to, abi, method, args }, index) => {
      const data = abi.encodeFunctionData(method, args)
      const nonce = toQuantity(first + index)
      const fees = { gas: toQuantity(GAS_LIMIT), maxFeePerGas: toQuantity(MAX_FEE) }
      return provider.send('eth_sendTransaction', [{ from, to, data, nonce, ...fees }])
    }),
  )
  // A world that mines by itself has none.
  await provider.send('evm_setIntervalMining', [rhythm ?? 0])
}

/** Nobody waits for the next block of the chain's own. */
export async function untilMined(provider: JsonRpcProvider): Promise<void> {
  for (;;) {
    const { pending, queued } = poolSchema.parse(await provider.send('txpool_status', []))
    // Dozens of full blocks would raise it above what the transactions offer, and anvil drops those.
    await provider.send('anvil_setNextBlockBaseFeePerGas', [toQuantity(BASE_FEE)])
    // The pool is empty as soon as a block takes its transactions: the next block comes when that one is there.
    await provider.send('evm_mine', [])
    if (pending + queued === 0) return
  }
}

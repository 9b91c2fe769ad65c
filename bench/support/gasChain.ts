import { Wallet } from 'ethers'
import { encodeAuthorizationCall, targetOf } from '../../src/chain/authorizationCall.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import type { ContractAddresses } from '../../src/protocol/api.js'
import { type Authorization, signAuthorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { castAccounts, type SandboxAccount, type SandboxAccounts } from '../../src/sandbox/accounts.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { deployAll, foundInstitution, joinInstitution, localProvider } from '../../src/sandbox/localChain.js'
import { drawSecrets, publicIdentity, type SandboxSecrets } from '../../src/sandbox/secrets.js'
import type { Call } from '../../src/sandbox/transactions.js'

/** A chain of its own that mines each transaction at once, with the sandbox's institution on it. */
export interface GasChain {
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly usdc: Hex
  readonly accounts: SandboxAccounts
  readonly secrets: SandboxSecrets
  /** Sends a call and resolves with the gas that it used. */
  send(account: SandboxAccount, call: Call): Promise<number>
  /** Signs as the enclave, sends as the relayer, and resolves with the gas that it used. */
  authorize(authorization: Authorization): Promise<number>
  /** Unix seconds of the last block. */
  now(): Promise<number>
  /** Lets time pass. */
  pass(seconds: number): Promise<void>
  stop(): Promise<void>
}

const GAS_LIMIT = 16_000_000n

export async function startGasChain(): Promise<GasChain> {
  const anvil = await startAnvil()
  const provider = localProvider(anvil.rpcUrl, anvil.chainId)
  const stop = async () => {
    provider.destroy()
    await anvil.stop()
  }
  try {
    const accounts = castAccounts(anvil)
    const secrets = drawSecrets()
    const deployed = await deployAll(provider, accounts, publicIdentity(secrets).enclaveSigner)
    await foundInstitution(provider, accounts, deployed)
    await joinInstitution(provider, accounts, deployed)
    return { chainId: anvil.chainId, ...deployed, accounts, secrets, stop, ...actions() }

    function actions() {
      const { contracts } = deployed
      return {
        send: (account: SandboxAccount, { to, abi, method, args }: Call) =>
          gasOf(account, to, abi.encodeFunctionData(method, args)),
        authorize(authorization: Authorization) {
          const verifyingContract = targetOf(authorization.primaryType, contracts)
          const domain = { chainId: anvil.chainId, verifyingContract }
          const signed = signAuthorization(authorization, domain, secrets.enclavePrivateKey)
          return gasOf(accounts.relayer, verifyingContract, encodeAuthorizationCall(signed))
        },
        async now() {
          return (await provider.getBlock('latest'))?.timestamp ?? 0
        },
        async pass(seconds: number) {
          await provider.send('evm_increaseTime', [seconds])
          await provider.send('evm_mine', [])
        },
      }
    }
  } catch (error) {
    await stop()
    throw error
  }

  async function gasOf({ privateKey }: SandboxAccount, to: Hex, data: string): Promise<number> {
    const wallet = new Wallet(privateKey, provider)
    const { hash } = await wallet.sendTransaction({ to, data, gasLimit: GAS_LIMIT })
    const receipt = await waitForReceipt(provider, hash)
    if (receipt?.status !== 1) throw new Error(`a call of ${to} reverted`)
    return Number(receipt.gasUsed)
  }
}

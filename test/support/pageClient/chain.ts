// The contracts' calls and the wallet's transactions: section 8 of docs/protocol.md.
import { type FunctionFragment, Interface, JsonRpcProvider, Wallet } from 'ethers'
import { fromHex, type Hex, toHex } from './bytes.js'

const FUNCTIONS = new Interface([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline)',
  'function openRequest(bytes32 orderId, bytes32 commit, uint64 deadline)',
  'function openDeposit(bytes32 orderId, bytes32 commit, bytes32 symbol, uint256 amount, uint64 deadline)',
  'function openBuyFor((address account, bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline, uint64 validBefore) o, bytes signature)',
  'function openRequestFor((address account, bytes32 orderId, bytes32 commit, uint64 deadline, uint64 validBefore) o, bytes signature)',
  'function usdc() view returns (address)',
  'function token() view returns (address)',
  'function ledger() view returns (address)',
  'function registry() view returns (address)',
  'function userBlob(bytes32 accountId) view returns (bytes)',
  'function portfolioVersion(bytes32 accountId) view returns (uint64)',
  'function orgOf(address wallet) view returns (bytes32)',
  'function adminOf(bytes32 orgId) view returns (address)',
  'function listedSymbols() view returns (bytes32[])',
  'function balanceOf(address owner) view returns (uint256)',
])

type Arguments = readonly (Hex | bigint | readonly (Hex | bigint)[])[]

export const calldata = (name: string, args: Arguments): Hex => hex(FUNCTIONS.encodeFunctionData(name, args))

export interface Chain {
  /** The wallet's address. */
  readonly account: Hex
  chainId(): Promise<bigint>
  blockNumber(): Promise<number>
  /** Unix seconds. */
  blockTime(): Promise<number>
  /** The answer of a view function that returns an address or bytes. */
  readBytes(contract: Hex, name: string, args?: Arguments, block?: number): Promise<Hex>
  readInteger(contract: Hex, name: string, args: Arguments, block?: number): Promise<bigint>
  readList(contract: Hex, name: string): Promise<readonly Hex[]>
  /**
   * Sends the wallet's transaction; resolves once it is mined.
   * @throws Error when it reverts
   */
  send(contract: Hex, name: string, args: Arguments): Promise<void>
  /** Whether a contract, which has no key, is at the wallet's address. */
  isContractWallet(): Promise<boolean>
  close(): void
}

export function connectChain(rpcUrl: string, walletKey: Uint8Array): Chain {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1, pollingInterval: 500 })
  const wallet = new Wallet(toHex(walletKey), provider)
  const account = hex(wallet.address)

  async function read(to: Hex, name: string, args: Arguments, blockTag: number | 'latest'): Promise<unknown> {
    const answer = await provider.call({ to, data: calldata(name, args), blockTag })
    const [value]: readonly unknown[] = FUNCTIONS.decodeFunctionResult(fragment(name), answer)
    return value
  }

  return {
    account,
    chainId: async () => (await provider.getNetwork()).chainId,
    blockNumber: () => provider.getBlockNumber(),
    async blockTime() {
      const block = await provider.getBlock('latest')
      if (!block) throw new Error('the chain has no block')
      return block.timestamp
    },
    readBytes: async (contract, name, args = [], block) =>
      hex(await read(contract, name, args, block ?? 'latest')),
    async readInteger(contract, name, args, block) {
      const value = await read(contract, name, args, block ?? 'latest')
      if (typeof value !== 'bigint') throw new Error(`${name}: expected an integer`)
      return value
    },
    async readList(contract, name) {
      const values: unknown = await read(contract, name, [], 'latest')
      if (!Array.isArray(values)) throw new Error(`${name}: expected an array`)
      return values.map(hex)
    },
    async send(to, name, args) {
      // An estimate falls short where another order ends first.
      const sent = await wallet.sendTransaction({ to, data: calldata(name, args), gasLimit: 500_000n })
      const receipt = await sent.wait()
      if (receipt?.status !== 1) throw new Error(`${name} failed`)
    },
    async isContractWallet() {
      const code = fromHex(await provider.getCode(account))
      const delegation = code.length === 23 && toHex(code).startsWith('0xef0100')
      return code.length > 0 && !delegation
    },
    close: () => provider.destroy(),
  }
}

function fragment(name: string): FunctionFragment {
  const found = FUNCTIONS.getFunction(name)
  if (!found) throw new Error(`no function ${name}`)
  return found
}

function hex(value: unknown): Hex {
  if (typeof value !== 'string') throw new Error('expected bytes')
  return toHex(fromHex(value))
}

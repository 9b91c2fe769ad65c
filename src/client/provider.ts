// The holder of the account: a browser's wallet over EIP-1193, a viem WalletClient, or an ethers signer. All reach the chain by JSON-RPC.
import type { Provider, Signer, TypedDataDomain, TypedDataField } from 'ethers'
import * as z from 'zod/mini'
import { toQuantity } from '../chain/jsonRpc.js'
import { bytesToHex, type Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import { untilAnswered } from './later.js'

/** A browser wallet's provider, such as `window.ethereum`. https://eips.ethereum.org/EIPS/eip-1193 */
export interface Eip1193Provider {
  request(request: {
    readonly method: string
    readonly params?: readonly unknown[] | object
  }): Promise<unknown>
}

/** Such a provider as its library declares it: viem and others narrow `method` and `params`, each in another way. */
export interface RequestSource {
  request(request: never): Promise<unknown>
}

/** A `WalletClient` of viem 2, whose account signs by itself or is one of the wallet behind its transport. https://viem.sh */
export interface ViemWalletClient extends RequestSource {
  readonly account?: { readonly address: Hex; readonly type: string } | undefined
  signMessage(request: never): Promise<string>
  signTypedData(request: never): Promise<string>
  sendTransaction(request: never): Promise<string>
}

/** Whatever holds the account and reaches a node. */
export type WalletSource = Signer | RequestSource | ViemWalletClient

/** A JSON-RPC call. It fails with the error of the provider that sends it. */
export type Request = (method: string, params: readonly unknown[]) => Promise<unknown>

/** The domain, types and message of EIP-712. */
export interface TypedMessage {
  readonly domain: TypedDataDomain
  readonly types: Record<string, TypedDataField[]>
  readonly message: Record<string, unknown>
  /** What `eth_signTypedData_v4` takes. */
  readonly payload: () => { readonly primaryType: string }
}

/** A call as a transaction. The gas is known, so that no wallet estimates it again. */
export interface OutgoingTransaction {
  readonly from: Hex
  readonly to: Hex
  readonly data: string
  readonly gasLimit: bigint
  /** The wallet refuses to send it on another one. */
  readonly chainId: number
}

/** Signs for the account. Methods fail with the raw errors of ethers or of the wallet. */
export interface AccountHolder {
  readonly request: Request
  /**
   * Asks the user on the first call where the page is not connected yet.
   * @param chosen which of several accounts; a signer has one of its own all the same
   */
  account(chosen?: Hex): Promise<string>
  signText(text: string, account: Hex): Promise<string>
  signTyped(typed: TypedMessage, account: Hex): Promise<string>
  /** @returns the transaction's hash */
  send(transaction: OutgoingTransaction): Promise<string>
}

/** @throws ClientError `no-provider` */
export function accountHolderOf(given: WalletSource | null | undefined): AccountHolder {
  // `window.ethereum` of a browser without a wallet.
  if (given === undefined || given === null) {
    throw new ClientError(
      'no-provider',
      'There is no wallet. Install one in this browser, or choose another.',
    )
  }
  if (!isEip1193(given)) return ethersSigner(given)
  return isLocal(given) ? localAccount(given) : browserWallet(given, ownAccount(given))
}

function isEip1193(given: WalletSource): given is RequestSource {
  return 'request' in given && typeof given.request === 'function'
}

/** An account that a node does not know: its client signs. Any other one is the wallet's, which takes the requests of EIP-1193. */
type LocalWalletClient = ViemWalletClient & { readonly account: NonNullable<ViemWalletClient['account']> }

function isLocal(given: RequestSource | ViemWalletClient): given is LocalWalletClient {
  return 'signTypedData' in given && given.account?.type === 'local'
}

/** The account that a WalletClient was made for, which need not be the first of the wallet behind it. */
function ownAccount(given: RequestSource | ViemWalletClient): string | undefined {
  return 'signTypedData' in given ? given.account?.address : undefined
}

const accountsSchema = z.tuple([z.string()], z.string())
const textSchema = z.string()

/** A raw JSON-RPC call by such a provider. */
export function requestOf(provider: RequestSource): Request {
  return (method, params) => provider.request({ method, params } as never)
}

function browserWallet(provider: RequestSource, own?: string): AccountHolder {
  const request = requestOf(provider)
  async function textOf(method: string, params: readonly unknown[]): Promise<string> {
    const answer = textSchema.safeParse(await request(method, params))
    if (answer.success) return answer.data
    throw new ClientError('unexpected-answer', `The wallet did not answer ${method} as documented.`)
  }
  return {
    request,
    async account(chosen) {
      const known = own ?? chosen
      if (known !== undefined) return known
      const accounts = accountsSchema.safeParse(await request('eth_requestAccounts', []))
      if (!accounts.success)
        throw new ClientError('no-account', 'The wallet reveals no account to this page.')
      return accounts.data[0]
    },
    signText: (text, account) =>
      textOf('personal_sign', [bytesToHex(new TextEncoder().encode(text)), account.toLowerCase()]),
    signTyped: ({ payload }, account) =>
      textOf('eth_signTypedData_v4', [account.toLowerCase(), JSON.stringify(payload())]),
    send: ({ from, to, data, gasLimit, chainId }) =>
      textOf('eth_sendTransaction', [
        { from, to, data, gas: toQuantity(gasLimit), chainId: toQuantity(chainId) },
      ]),
  }
}

function localAccount(client: LocalWalletClient): AccountHolder {
  const { account } = client
  // viem infers the type of a request from its content.
  const of = (request: object) => ({ account, ...request }) as never
  return {
    request: requestOf(client),
    account: async () => account.address,
    signText: (message) => client.signMessage(of({ message })),
    signTyped: ({ domain, types, message, payload }) =>
      client.signTypedData(of({ domain, types, message, primaryType: payload().primaryType })),
    // Without `chain`, viem would ask for the one of the client's settings.
    send: ({ to, data, gasLimit, chainId }) =>
      client.sendTransaction(
        of({ to, data, gas: gasLimit, chain: { id: chainId, name: `chain ${chainId}` } }),
      ),
  }
}

function ethersSigner(signer: Signer): AccountHolder {
  const { provider } = signer
  if (provider === null || !takesCalls(provider)) {
    throw new ClientError('no-provider', 'Connect the signer to a JSON-RPC provider first.')
  }
  // `send` alone would wait for an unreachable node forever.
  const ready = untilAnswered(() => provider.getNetwork())
  return {
    async request(method, params) {
      await ready()
      return provider.send(method, [...params])
    },
    account: () => signer.getAddress(),
    signText: (text) => signer.signMessage(text),
    signTyped: ({ domain, types, message }) => signer.signTypedData(domain, types, message),
    send: async (transaction) => (await signer.sendTransaction(transaction)).hash,
  }
}

function takesCalls(
  provider: Provider,
): provider is Provider & { send(method: string, params: unknown[]): Promise<unknown> } {
  return 'send' in provider && typeof provider.send === 'function'
}

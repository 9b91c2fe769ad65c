// Pages as others write them, compiled against the package.

/** A page that verifies evidence by itself. */
export const WITH_ATTESTATION = `
import { AttestationError, type Expectation, verifyAttestation } from 'confidential-trading-client/attestation'

export const labelOf = async (evidence: unknown, expected: Expectation): Promise<string> =>
  (await verifyAttestation(evidence, expected)).label
export const refusalOf = (error: AttestationError): string => error.code
`
/** A page with React 19. */
export const WITH_REACT = `
import { type ReactNode, useEffect, useState } from 'react'
import type { Client, Hex, OrderStatus, TradingError } from 'confidential-trading-client'

export function Order({ client, orderId }: { client: Client; orderId: Hex }): ReactNode {
  const [status, setStatus] = useState<OrderStatus | null>(null)
  const [error, setError] = useState<TradingError | null>(null)
  useEffect(() => client.watchOrder(orderId, { onStatus: setStatus, onError: setError }), [client, orderId])
  return <p role="status">{error?.code ?? status?.state}</p>
}
`
/** A page with viem 2, whose types are stricter than EIP-1193 and differ with the chain and the account of a client. */
export const WITH_VIEM = `
import { createWalletClient, custom, type EIP1193Provider, http, type WalletClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import { type Client, createClient, createPast } from 'confidential-trading-client'

declare const provider: EIP1193Provider
declare const any: WalletClient
const pins = { enclavePublicKey: '0x02', escrow: '0x01' } as const
const serverUrl = 'https://trading.example'
const account = privateKeyToAccount('0x01')
const local = createWalletClient({ account, chain: mainnet, transport: http() })
const browser = createWalletClient({ transport: custom(provider) })
export const clients: readonly Client[] = [
  createClient({ serverUrl, pins, wallet: provider }),
  createClient({ serverUrl, pins, wallet: any }),
  createClient({ serverUrl, pins, wallet: local }),
  createClient({ serverUrl, pins, wallet: browser }),
]
export const past = createPast(provider, { escrow: '0x01', fromBlock: 0 })
`
/** A page with ethers 6. */
export const WITH_ETHERS = `
import { BrowserProvider, type Eip1193Provider, type HDNodeWallet, type JsonRpcSigner, type Wallet } from 'ethers'
import { type Client, createClient } from 'confidential-trading-client'

declare const provider: Eip1193Provider
declare const wallets: { readonly a: Wallet; readonly b: HDNodeWallet; readonly c: JsonRpcSigner }
const pins = { enclavePublicKey: '0x02', escrow: '0x01' } as const
const serverUrl = 'https://trading.example'
export const signerOf = () => new BrowserProvider(provider).getSigner()
export const clients: readonly Client[] = [
  createClient({ serverUrl, pins, wallet: provider }),
  createClient({ serverUrl, pins, wallet: wallets.a }),
  createClient({ serverUrl, pins, wallet: wallets.b }),
  createClient({ serverUrl, pins, wallet: wallets.c }),
]
`
/** A program of which no line after the imports may compile: if one did, the types would admit anything. */
export const WRONG = `
import type { Signer } from 'ethers'
import { createClient, type OrderRequest, parseDecimal, type ServerErrorCode } from 'confidential-trading-client'
createClient({ serverUrl: 'https://example.com' })
export const unpinned = (wallet: Signer) => createClient({ serverUrl: 'https://example.com', wallet })
export const amount: string = parseDecimal('1.5', 6)
export * from 'confidential-trading-client/dist/client/http.js'
export const inexact: OrderRequest = { side: 'BUY', symbol: 'AAPL', usdc: 0.5 }
export const byShares: OrderRequest = { side: 'BUY', symbol: 'AAPL', shares: 1n }
export const byWorth: OrderRequest = { side: 'WITHDRAW', symbol: 'AAPL', usdc: 1n }
export const endless: OrderRequest = { side: 'BUY', symbol: 'AAPL', usdc: 1n, validFor: '1' }
export const isGone = (code: ServerErrorCode) => code === 'order-not-fond'
`

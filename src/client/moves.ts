import * as z from 'zod/mini'
import { accountMoveSchema } from '../protocol/accountMove.js'
import type { Hex } from '../protocol/hex.js'
import { createContract, type Mined } from './contract.js'
import type { CallOptions } from './http.js'
import type { Keyring } from './keyring.js'
import type { PlatformContracts } from './platform.js'
import { REGISTRY_ABI } from './registryAbi.js'
import { abortable } from './retry.js'
import type { Wallet } from './wallet.js'

/** A move of a lost wallet's portfolio that was proposed and has not ended. */
export interface AccountMove {
  /** The institution whose admin proposed it. */
  readonly orgId: Hex
  readonly to: Hex
  /** Whether the new wallet has accepted it. */
  readonly isAccepted: boolean
  /** Unix seconds from which it can be carried out; null until the platform's owner approves it. */
  readonly effectiveAt: number | null
}

export interface MoveOptions extends CallOptions {
  /** The lost wallet; the own one by default. */
  readonly from?: Hex | undefined
}

/** Moves of a portfolio from a lost wallet to a new one of the same person. Each step is one transaction. */
export interface Moves {
  /**
   * The move of a wallet's portfolio; null if there is none.
   * @example if ((await client.getMove()) !== null) await client.withdrawMove()
   */
  getMove(options?: MoveOptions): Promise<AccountMove | null>
  /**
   * For an admin: proposes to move a member's portfolio to another wallet.
   * @example await client.proposeMove(account, '0x90F79bf6EB2c4f870365E785982E1f101E93b906')
   */
  proposeMove(from: Hex, to: Hex, options?: CallOptions): Promise<Mined>
  /**
   * For the new wallet: accepts the move. Its portfolio will be sealed to this wallet's newest portfolio key.
   * @example await client.acceptMove(account)
   */
  acceptMove(from: Hex, options?: CallOptions): Promise<Mined>
  /**
   * Ends a move: an objection by the wallet itself, or a withdrawal by its institution's admin or the owner.
   * @example await client.withdrawMove()
   */
  withdrawMove(options?: MoveOptions): Promise<Mined>
}

/** The registry's `moveOf`. */
export const moveSchema = z.pipe(
  accountMoveSchema,
  z.transform((move): AccountMove | null => {
    if (move === null) return null
    const { orgId, to, effectiveAt, userPubKey } = move
    return { orgId, to, isAccepted: userPubKey !== '0x', effectiveAt: effectiveAt === 0 ? null : effectiveAt }
  }),
)

export function createMoves(deps: {
  readonly wallet: Wallet
  readonly keys: Pick<Keyring, 'newest'>
  readonly contracts: (options?: CallOptions) => Promise<Pick<PlatformContracts, 'registry'>>
}): Moves {
  const { wallet, keys, contracts } = deps
  const registry = async (options: CallOptions = {}) =>
    createContract({
      wallet: wallet.until(options.signal),
      address: (await contracts(options)).registry,
      abi: REGISTRY_ABI,
    })
  const send = async (method: string, args: readonly unknown[], options?: CallOptions) =>
    (await registry(options)).send(method, args)
  return {
    getMove: async ({ from, ...options } = {}) => {
      const contract = await registry(options)
      return contract.read('moveOf', [from ?? (await wallet.until(options.signal).account())], moveSchema)
    },
    proposeMove: (from, to, options) => send('proposeMove', [from, to], options),
    acceptMove: async (from, options) =>
      send('acceptMove', [from, (await abortable(keys.newest(), options?.signal)).publicKey], options),
    withdrawMove: async ({ from, ...options } = {}) =>
      send('withdrawMove', [from ?? (await wallet.until(options.signal).account())], options),
  }
}

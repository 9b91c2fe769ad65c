import type { RequestHandler } from 'express'
import { type ContractAddresses, type Health, healthSchema } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { preparedJson } from '../http/preparedJson.js'

export interface HealthDeps {
  readonly version: string
  readonly chainId: number
  readonly contracts: ContractAddresses
  /** The relayer's address. */
  readonly relayer: Hex
  /** The listed symbols as last read; asks nobody. */
  readonly symbols: () => readonly string[]
}

/** `GET /health`: what this server is set up for. Answers from memory, so that nothing it depends on can hang it. */
export function healthHandler(deps: HealthDeps): RequestHandler {
  const { symbols, ...fixed } = deps
  const send = preparedJson(healthSchema)
  let listed: readonly string[] | undefined
  let health: Health | undefined
  return (_req, res) => {
    const current = symbols()
    if (health === undefined || current !== listed) {
      listed = current
      health = { status: 'ok', ...fixed, symbols: [...current] }
    }
    send(res, health)
  }
}

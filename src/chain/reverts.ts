import { type ErrorDescription, type Interface, isCallException } from 'ethers'
import { z } from 'zod/mini'
import type { Revert } from '../protocol/api.js'
import { interfaces } from './interfaces.js'
import { EXECUTION_REVERTED, type RpcAnswer } from './jsonRpc.js'

// An interface knows Solidity's own Error(string) and Panic(uint256) besides those that its contract declares.
const contracts = Object.values(interfaces)

/** A contract may return any number of bytes; no reader needs more. */
const MAX_DATA_CHARS = 2_050
/** Longer data is not even decoded. None of our errors comes near. */
const MAX_DECODED_CHARS = 16_384

/**
 * The error in a call's revert data by its own name and arguments, whichever of our contracts raised it.
 * Data that none of them declares is `{name: 'unknown', args: {data}}`, cut to 1,024 bytes; an argument is cut to as
 * many characters as that has.
 */
export function decodeRevert(data: string): Revert {
  if (data === '0x') return { name: 'unknown', args: {} }
  for (const contract of data.length > MAX_DECODED_CHARS ? [] : contracts) {
    const error = parse(contract, data)
    if (error) return error
  }
  return { name: 'unknown', args: { data: data.slice(0, MAX_DATA_CHARS) } }
}

/** The revert behind an error that ethers threw, or null when it is another kind of failure. */
export function revertOf(error: unknown): Revert | null {
  if (!(error instanceof Error) || !isCallException(error)) return null
  return decodeRevert(error.data ?? '0x')
}

const revertDataSchema = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text) => text.replace(/^Reverted /, '')),
  ),
  z.string().check(z.regex(/^0x(?:[0-9a-fA-F]{2})*$/)),
)

/** The revert in a node's answer to a call; null when the node does not say that the call reverts. */
export function revertIn(answer: RpcAnswer | undefined): Revert | null {
  if (answer === undefined || !('error' in answer)) return null
  const data = revertDataSchema.safeParse(answer.error.data)
  if (data.success) return decodeRevert(data.data)
  return answer.error.code === EXECUTION_REVERTED ? decodeRevert('0x') : null
}

/** Whether a call reverts because it is effective already: the contracts check that first. */
export function isOfUsedDigest({ name }: Revert): boolean {
  return name === 'DigestUsed' || name === 'ActionKnown'
}

function parse(contract: Interface, data: string): Revert | null {
  try {
    const error = contract.parseError(data)
    return error && { name: error.name, args: argsOf(error) }
  } catch {
    // The selector matches, but the arguments do not decode, some only when they are read: it is another contract's error.
    return null
  }
}

function argsOf({ fragment, args }: ErrorDescription): Record<string, string> {
  return Object.fromEntries(
    fragment.inputs.map((input, index) => [
      input.name || String(index),
      String(args[index]).slice(0, MAX_DATA_CHARS),
    ]),
  )
}

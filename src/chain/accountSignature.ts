// Signatures of accounts: of a key (EIP-2), or of a contract wallet (https://eips.ethereum.org/EIPS/eip-1271).
import { AbiCoder, type BlockTag, dataSlice } from 'ethers'
import * as z from 'zod/mini'
import { type Hex, hexBetween, hexLength } from '../protocol/hex.js'
import { isSignedByKey, MAX_SIGNATURE_BYTES } from '../protocol/signature.js'
import { signatureLensBytecode } from './generated/lenses.js'
import { createLens } from './lenses.js'
import { boolValue, type ViewCaller } from './views.js'

/** Whether an account signed a digest, as its wallet says at a block. @throws ChainUnavailableError, ChainAnswerError */
export type IsSignedBy = (account: Hex, digest: Hex, signature: Hex, block?: BlockTag) => Promise<boolean>

/**
 * Asks the chain only where no key of that address signed: a contract wallet decides by its own code.
 * @param hasCode without code, an account is not asked
 */
export function createSignatureCheck(
  caller: ViewCaller,
  hasCode: (account: Hex) => Promise<boolean> = async () => true,
): IsSignedBy {
  const ask = createLens(caller, {
    bytecode: signatureLensBytecode,
    takes: ['address', 'bytes32', 'bytes'],
    returns: ['bool isValid'],
    schema: z.pipe(
      z.object({ isValid: boolValue }),
      z.transform(({ isValid }) => isValid),
    ),
  })
  return async (account, digest, signature, block = 'latest') =>
    isSignedByKey(account, digest, signature) ||
    ((await hasCode(account)) && ask([account, digest, unwrapped(signature)], block))
}

const WRAPPED = '6492'.repeat(16)
const wrappedSchema = hexBetween(0, MAX_SIGNATURE_BYTES)

/**
 * The signature within one that also says how to deploy its wallet (https://eips.ethereum.org/EIPS/eip-6492). A wallet that trades has
 * opened an order or founded an institution, so it is deployed, and nothing has to be.
 */
function unwrapped(signature: Hex): Hex {
  if (!signature.endsWith(WRAPPED)) return signature
  try {
    const fields = dataSlice(signature, 0, hexLength(signature) - 32)
    return wrappedSchema.parse(AbiCoder.defaultAbiCoder().decode(['address', 'bytes', 'bytes'], fields)[2])
  } catch {
    return signature
  }
}

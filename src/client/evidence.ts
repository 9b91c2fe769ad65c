// What the chain says of the program whose evidence a server shows.

import * as z from 'zod/mini'
import type { Measurements, Verified } from '../attestation/index.js'
import { isSameProgram, programValue } from '../chain/signerProgram.js'
import { addressSchema } from '../protocol/address.js'
import type { Attestation } from '../protocol/attestation.js'
import type { EnclaveKey } from '../protocol/enclaveKey.js'
import type { Hex } from '../protocol/hex.js'
import { samePoint } from '../protocol/point.js'
import { AUTHORITY_ABI, IMMUTABLES_ABI } from './abis.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Wallet } from './wallet.js'

/** `Role.SIGNER` of the contract. */
const SIGNER = 2
const numberSchema = z.pipe(z.bigint(), z.transform(Number))
const rotationSchema = z.object({ to: addressSchema, effectiveAt: numberSchema })

/** The change of the enclave's signer that the chain announces. */
export interface NextEnclave {
  readonly signer: Hex
  /** Unix seconds. */
  readonly effectiveAt: number
  /** The measured program that the owner has announced with it; absent where none was. */
  readonly measurement?: Hex | undefined
  /** Its evidence, where the server shows some that holds. */
  readonly verified?: Verified | undefined
}

/** What the enclave has proved, and the change that is announced. */
export interface Evidence {
  readonly verified: Verified
  readonly next?: NextEnclave | undefined
}

/**
 * Judges the evidence beside a server's key, once for each call.
 * @throws ClientError `unattested-enclave`, `untrusted-enclave`, `untrusted-enclave-key`, `unannounced-program`, `revoked-program`
 */
export function createEvidence(measurements: Measurements) {
  /** An escrow's authority never changes. */
  const authorities = new Map<Hex, Hex>()

  async function authorityOf(wallet: Wallet, escrow: Hex): Promise<Hex> {
    const contract = createContract({ wallet, address: escrow, abi: IMMUTABLES_ABI })
    const found = authorities.get(escrow) ?? (await contract.read<Hex>('authority', [], addressSchema))
    authorities.set(escrow, found)
    return found
  }

  return async (key: EnclaveKey, wallet: Wallet, nonce?: Hex): Promise<Evidence> => {
    const { attestation, chainId, escrow } = key
    if (attestation === undefined) {
      throw new ClientError('unattested-enclave', 'The server shows no evidence of its enclave.')
    }
    const address = await authorityOf(wallet, escrow)
    const authority = createContract({ wallet, address, abi: AUTHORITY_ABI })
    const [signer, program, rotation, announced] = await Promise.all([
      authority.read<Hex>('enclaveSigner', [], addressSchema),
      authority.read('signerProgram', [], programValue),
      authority.read('pendingRotation', [SIGNER], rotationSchema),
      authority.read('pendingProgram', [], programValue),
    ])
    const judge = (shown: Attestation, of: Hex, sent?: Hex) =>
      measurements(shown, { chainId, escrow, signer: of, now: Date.now(), nonce: sent })
    const verified = await judge(attestation, signer, nonce).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown'
      const message = `The evidence of the enclave does not hold: ${reason}.`
      throw new ClientError('untrusted-enclave', message, { cause: error })
    })
    const { statement, measurement, config } = verified
    if (statement.scheme !== key.scheme || !samePoint(statement.sealKey, key.publicKey)) {
      throw new ClientError('untrusted-enclave-key', 'The server’s enclave key is not the attested one.')
    }
    if (program !== null && !isSameProgram(program, { measurement, config })) {
      throw new ClientError(
        'unannounced-program',
        'The chain names another program or configuration than the evidence.',
      )
    }
    if (await authority.read('isRevoked', [measurement], z.boolean())) {
      throw new ClientError('revoked-program', 'The guardian has revoked the enclave’s program.')
    }
    if (rotation.effectiveAt === 0) return { verified }
    const shown = key.next?.attestation
    const found = shown === undefined ? undefined : await judge(shown, rotation.to).catch(() => undefined)
    const isAnnounced = announced === null || (found !== undefined && isSameProgram(announced, found))
    return {
      verified,
      next: {
        ...{ signer: rotation.to, effectiveAt: rotation.effectiveAt },
        ...(announced !== null && { measurement: announced.measurement }),
        ...(isAnnounced && { verified: found }),
      },
    }
  }
}

import type { Command } from 'commander'
import * as z from 'zod'
import { getRelayReceipt } from '../client/operator.js'
import type { Hex } from '../protocol/hex.js'
import { readSecretFiles, required } from '../service/config.js'
import { baseUrl } from '../service/configKinds.js'
import { Secret } from '../service/secret.js'
import { anId } from '../terminal/arguments.js'
import { TIMEOUT_MS } from '../terminal/node.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { parsed } from './settings.js'

const HELP = `
SERVER_URL names the server, RELAY_AUTH_TOKEN its relay's token, or RELAY_AUTH_TOKEN_FILE the file that has it, with mode 0600.`

const settingsSchema = z.object({
  SERVER_URL: required(baseUrl(), { about: '', example: '' }),
  RELAY_AUTH_TOKEN: required(
    z.string().transform((text) => new Secret(text)),
    { about: '', secret: true, example: '' },
  ),
})

/** Adds the command that shows what the relay has done with an authorization. */
export function addRelay(root: Command, process: OperateProcess): void {
  addCommand(root, 'relay', "shows the relay's receipt of an authorization")
    .argument('<digest>', "the authorization's", anId)
    .addHelpText('after', HELP)
    .action((digest: Hex, options: CommonOptions) => showReceipt(process, options, digest))
}

async function showReceipt(process: OperateProcess, options: CommonOptions, digest: Hex): Promise<void> {
  const settings = parsed(settingsSchema, readSecretFiles(process.env, settingsSchema))
  const access = { serverUrl: settings.SERVER_URL, token: settings.RELAY_AUTH_TOKEN.reveal() }
  const receipt = await getRelayReceipt({ ...access, timeoutMs: TIMEOUT_MS }, digest)
  const { primaryType, target, status, txHash, blockNumber, gasUsed, createdAt, updatedAt, error } = receipt
  const args = Object.entries(error?.args ?? {}).map(([name, value]) => `${name} ${value}`)
  const rows = { digest, type: primaryType, contract: target, status, transaction: txHash }
  const mined = { block: blockNumber, 'gas used': gasUsed, created: createdAt, updated: updatedAt }
  const failure = error && [error.name, ...args].join(' ')
  createSpeech(process, options).result(
    Object.entries({ ...rows, ...mined, error: failure }).map(
      ([name, value]) => `${name}: ${value ?? 'none'}`,
    ),
    { ...receipt, gasUsed: gasUsed?.toString() ?? null },
  )
}

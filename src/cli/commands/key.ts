import { writeFile } from 'node:fs/promises'
import { type Client, ClientError, type Hex } from '../../client/index.js'
import { usage } from '../../terminal/failure.js'
import { fields, shownTime } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { readOwnFile } from '../input/secrets.js'

/** Until the enclave writes under the new key, the thief of the former key can still read the portfolio. */
export const KEY_WAITS =
  'the portfolio on chain is still sealed to an older key: the next order that the enclave admits replaces it, such ' +
  'as "order withdraw USDC <amount>"; a refused order does not'

const KEEP_IT =
  'Keep the file like the key of your wallet, and keep a copy: the wallet cannot recover a drawn key. If it is ' +
  'lost, no money is lost, but no key opens the portfolio until an order under another new key, and other data ' +
  'sealed to it, such as the reasons of refusals, stays unreadable.'

const ABOUT = `The key that opens the portfolio is derived from the wallet's signature over a fixed text. A page that obtains this signature can read your portfolio: "key rotate" replaces the key. A wallet that signs the same text differently each time has no such key, and starts with "key rotate". Without "rotate", shows which key is in use, and whether the portfolio on the chain is sealed to it.`

const ABOUT_ROTATE = `Draws a random key and writes it to a new file with mode 0600. The file also holds the earlier drawn keys of --portfolio-keys, which open older data. Then give every command the file with --portfolio-keys or TRADING_PORTFOLIO_KEYS. The enclave seals to the new key from the next order that it admits; the smallest is a withdrawal of cash. A refused order does not count. A thief keeps the data that he has already read.

${KEEP_IT}`

export const addKey: AddCommand = (root, context) => {
  const { env, terminal } = context
  const command = addWalletCommand(
    root,
    'key',
    'shows which portfolio key is in use, or replaces a phished one',
    ABOUT,
  ).action((options: WalletOptions) =>
    withWallet(options, env, async (client) => terminal.result(await inUse(client))),
  )
  addWalletCommand(command, 'rotate', 'draws a new key into a new file', ABOUT_ROTATE)
    .argument('<file>', 'the new file')
    .action((file: string, options: WalletOptions) =>
      withWallet(options, env, async (client) => terminal.result(await rotate(client, file, context))),
    )
}

async function rotate(client: Client, file: string, { terminal }: CommandContext): Promise<Report> {
  const text = await client.drawKey()
  // Never overwrites a file: it may hold the only copy of a key.
  await writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true }).catch(() => {
    throw usage('the new file cannot be created, or already exists')
  })
  // What the disk has, as each later command reads it: the key in use has a copy.
  await client.importKeys(readOwnFile(file, 'portfolio-keys'))
  terminal.progress(KEEP_IT)
  terminal.progress(
    `from now on give --portfolio-keys ${file}, or set TRADING_PORTFOLIO_KEYS: an order without it is sealed under the ` +
      'older key, which then stays in use',
  )
  return inUse(client)
}

/** The key that the portfolio on chain is sealed to, in the report's words. */
const SEALED_TO = {
  'this-key': 'this key',
  'older-key': `an older key; ${KEY_WAITS}`,
  'key-not-held': 'a key that is not available here; give its file',
} as const

async function inUse(client: Client): Promise<Report> {
  const { publicKey, drawnAt } = await client.unlock()
  const sealedTo = await keyOnChain(client, publicKey)
  const since = drawnAt === 0 ? null : new Date(drawnAt * 1_000).toISOString()
  return {
    json: { publicKey, drawnAt: since, sealedTo },
    blocks: [
      fields([
        ['public key', publicKey],
        ['drawn', since === null ? 'no: derived from the wallet' : shownTime(since)],
        ['sealed to', sealedTo === null ? 'none: there is no portfolio yet' : SEALED_TO[sealedTo]],
      ]),
    ],
  }
}

async function keyOnChain(client: Client, newest: Hex): Promise<keyof typeof SEALED_TO | null> {
  try {
    const opened = await client.getPortfolio()
    return opened && (opened.portfolio.userPubKey === newest ? 'this-key' : 'older-key')
  } catch (error) {
    if (error instanceof ClientError && error.code === 'portfolio-undecryptable') return 'key-not-held'
    throw error
  }
}

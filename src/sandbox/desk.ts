import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import helmet from 'helmet'
import * as z from 'zod'
import type { AcceptedProgram } from '../attestation/policy.js'
import { type DeskSettings, type SandboxDeskSettings, sandboxDeskSettings } from '../protocol/deskSettings.js'
import type { Hex } from '../protocol/hex.js'
import { peopleOf } from './accounts.js'
import { buildMissing } from './serverProcess.js'
import { ROOT, type SandboxFile } from './settings.js'

/** The page that is shipped. */
const FILES = join(ROOT, 'dist/web')
/** The one that accepts evidence of the stand-in of a device. */
const TEST_FILES = join(ROOT, 'dist/sandbox/web')

export const DESK_FILE = 'desk.json'

/** @throws CommandError `build-missing` */
export function assertDeskBuilt(): void {
  const isBuilt = [FILES, TEST_FILES].every((folder) => existsSync(join(folder, 'index.html')))
  if (!isBuilt) throw buildMissing('the page is', 'npm run build:web')
}

/** What the page trusts: the key from a file, or what an attested enclave is. */
export type DeskTrust =
  | { readonly enclavePublicKey: Hex }
  | { readonly programs: readonly AcceptedProgram[]; readonly root: string }

function deskSettings(deskUrl: string, info: SandboxFile, trust: DeskTrust): SandboxDeskSettings {
  const escrow = info.contracts.orderEscrow
  return {
    serverUrl: info.url,
    origin: deskUrl,
    chain: { id: info.chainId, name: 'Sandbox', rpcUrl: info.rpcUrl, firstBlock: 0 },
    ...('root' in trust
      ? { pins: { escrow }, measurements: [...trust.programs], testRoot: trust.root }
      : { pins: { escrow, enclavePublicKey: trust.enclavePublicKey } }),
    demoWallets: peopleOf(info.accounts).map(({ name, part, address }) => ({ name, part, address })),
  }
}

/** Writes what the page's operator has, for the commands of the owner, who trusts the sandbox's own key. */
export async function writeDesk(directory: string, info: SandboxFile, enclavePublicKey: Hex): Promise<void> {
  const settings = deskSettings(info.deskUrl ?? info.url, info, { enclavePublicKey })
  const text = JSON.stringify(z.encode(sandboxDeskSettings(), settings))
  await writeFile(join(directory, DESK_FILE), text, { mode: 0o600 })
}

/** Serves the built page on 127.0.0.1. Resolves with a function that ends it. */
export async function startDesk(
  deskUrl: string,
  info: SandboxFile,
  trust: DeskTrust,
): Promise<() => Promise<void>> {
  const settings = deskSettings(deskUrl, info, trust)
  const app = express()
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: deskPolicy(settings) } }))
  app.get(`/${DESK_FILE}`, (_req, res) => {
    res.set('Cache-Control', 'no-store').json(z.encode(sandboxDeskSettings(), settings))
  })
  app.use(express.static('root' in trust ? TEST_FILES : FILES))
  const server = createServer(app).listen(Number(new URL(deskUrl).port), '127.0.0.1')
  await once(server, 'listening')
  return async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
}

/** The page's CSP: resources of its own origin, and requests to the server and the chain. */
export function deskPolicy({ serverUrl, chain: { rpcUrl } }: Pick<DeskSettings, 'serverUrl' | 'chain'>) {
  const self = ["'self'"]
  return {
    defaultSrc: ["'none'"],
    scriptSrc: self,
    styleSrc: self,
    imgSrc: [...self, 'data:'],
    manifestSrc: self,
    workerSrc: ["'none'"],
    connectSrc: [...self, serverUrl, ...(rpcUrl === null ? [] : [rpcUrl])],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  }
}

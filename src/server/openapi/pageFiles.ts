import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Response } from 'express'
import { z } from 'zod'
import { START_SCRIPT } from './page.js'

/** The files that the page at /docs loads. */
export const pageFileSchema = z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'])
export type PageFile = z.output<typeof pageFileSchema>

/** Where npm has put Swagger UI. */
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** Sends a file of the page, or 304. */
export function sendPageFile(res: Response, file: PageFile): void {
  if (file === 'start.js') res.type('text/javascript').send(START_SCRIPT)
  else res.sendFile(join(SWAGGER_UI, file), { cacheControl: false, acceptRanges: false, dotfiles: 'allow' })
}

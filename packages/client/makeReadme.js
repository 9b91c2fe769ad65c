// Writes the package's README.md: docs/client.md, whose links to other pages of the repository lead nowhere in a package.
import { readFileSync, writeFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')
const [title, ...rest] = page.split('\n')
const note =
  'This is `docs/client.md` of the platform’s repository. The pages and folders that it names are there.'
const text = rest.join('\n').replace(/\[([^\]\n]+)\]\((?!#|https?:)[^)\n]*\)/g, '$1')
writeFileSync(new URL('README.md', import.meta.url), `${title}\n\n${note}\n${text}`)

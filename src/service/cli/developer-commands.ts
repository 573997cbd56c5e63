import { Argument, type Command, InvalidArgumentError } from 'commander';
import { readPartnerConfig } from '#platform/config.ts';
import { EVENT_TYPES, type EventType } from '#webhooks/events/event-types.ts';
import type { Lazily, Surroundings } from './runtime.ts';

export function addDeveloperCommands(program: Command, { environment, terminal }: Surroundings, lazily: Lazily): void {
  program
    .command('listen')
    .description('print the events of a credential as they happen, and forward them to your server')
    .option(
      '--forward-to <url>',
      'post each event to this http or https URL, signed as the service signs it',
      parseTarget,
    )
    .option(
      '--events <names>',
      `only events of these types, separated by commas: ${EVENT_TYPES.join(', ')}`,
      parseEvents,
    )
    .option('--json', 'print one line of JSON for each event')
    .option(
      '--url <url>',
      'URL of the service (default: the variable ROOMSERVICE_URL or BASE, else http://localhost:8080)',
    )
    .option('--api-key <key>', 'API key of the credential (default: the variable ROOMSERVICE_API_KEY or KEY)')
    .option(
      '--allow-plain-http',
      'allow key and secret to be sent to another machine without TLS, on a network that you trust',
    )
    .addHelpText(
      'after',
      '\nThe API secret is read from ROOMSERVICE_API_SECRET, ROOMSERVICE_API_SECRET_FILE or SECRET.',
    )
    .action(async (options: ListenFlags) => {
      const config = readPartnerConfig(options, environment);
      const { listen } = await import('#developer/listen/listen.ts');
      const {
        forwardTo = null,
        events = null,
        json: isJson = false,
        allowPlainHttp: allowsPlainHttp = false,
      } = options;
      terminal.exitOnSignal();
      await listen(
        config,
        { forwardTo, events, isJson, allowsPlainHttp },
        { print: terminal.print, say: terminal.notify },
      );
    });
  program
    .command('trigger')
    .description('make a real event on the demo tenant: confirm an order, or book, change or cancel a stay')
    .addArgument(new Argument('<event>', 'type of the event').choices(EVENT_TYPES))
    .option(
      '--api-key <key>',
      'API key of the credential (default: the variable ROOMSERVICE_API_KEY or KEY, else the newest credential of the demo tenant)',
    )
    .option('--json', 'print JSON')
    .action(lazily(async () => (await import('./trigger.ts')).trigger));
}

interface ListenFlags {
  forwardTo?: URL;
  events?: EventType[];
  json?: boolean;
  url?: string;
  apiKey?: string;
  allowPlainHttp?: boolean;
}

function parseTarget(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(
      'It must be a URL such as http://localhost:3000/hooks, without user name and password.',
    );
  }
  return url;
}

function parseEvents(text: string): EventType[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    const event = EVENT_TYPES.find((known) => known === name);
    if (event === undefined) {
      throw new InvalidArgumentError(`There is no event type "${name}". The types are ${EVENT_TYPES.join(', ')}.`);
    }
    return event;
  });
}

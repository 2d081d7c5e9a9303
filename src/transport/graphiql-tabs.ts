/** Stands in the variables of the tabs for the session that was made last; the page fills it in. */
export const lastSession = 'LAST_SESSION';

export interface GraphiQLTab {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

const createSession = `# 1. Start here: press the play button (or Ctrl-Enter).
#
# This makes a chat session. The other tabs go on with the session you made last:
# this page puts its id wherever their variables say "${lastSession}".
# To use another session, write its id there instead.
mutation CreateSession($input: CreateChatSessionInput!) {
  createChatSession(input: $input) {
    id
    title
    model
    budget {
      maxCostUsd
      maxTokens
    }
  }
}
`;

const send = `# 2. Sends a message and waits for the whole reply.
#
# Every call is one turn of the session made in tab 1; the model sees all turns before it.
mutation Send($input: SendInput!) {
  send(input: $input) {
    content
    finishReason
    tokensUsed
    costUsd
    session {
      turnCount
      totalCostUsd
    }
  }
}
`;

const stream = `# 3. Sends a message and streams the turn while it runs.
#
# Leaving does not stop the turn: it is finished and stored, and tab 5 shows it.
# Exactly one of TurnCompleted, TurnFailed and TurnStopped is the last event.
subscription Stream($input: StreamInput!) {
  stream(input: $input) {
    __typename
    ... on TurnEvent {
      sequence
    }
    ... on ThinkingDelta {
      delta
    }
    ... on TextDelta {
      delta
    }
    ... on StepCompleted {
      costUsd
    }
    ... on TurnCompleted {
      response {
        content
        finishReason
        tokensUsed
        costUsd
      }
    }
    ... on TurnFailed {
      error {
        code
        message
        retryable
      }
    }
  }
}
`;

const seed = `# 4. Adds earlier messages to the session, for example from another system: all of them or none.
#
# They count as history, not as turns.
mutation SeedHistory($input: SeedHistoryInput!) {
  seedHistory(input: $input) {
    seededCount
    roleCounts
    session {
      messageCount
      turnCount
    }
  }
}
`;

const historyAndCost = `# 5. What was said, and what it cost to the last digit.
query HistoryAndCost($id: ID!) {
  chatSession(id: $id) {
    title
    history {
      sequence
      role
      content
      status
      seeded
    }
    turnCount
    totalTokens
    totalCostUsd
    budget {
      remainingCostUsd
      remainingTokens
    }
    modelCalls(last: 10) {
      nodes {
        model
        costUsd
        usage {
          inputTokens
          outputTokens
        }
        latencyMs
      }
    }
  }
}
`;

const signInHint = `# This server asks for a token: put yours into the Headers pane below, in place of TOKEN.
#
`;

/** The tabs that a newcomer finds, to be run from left to right. */
export function graphiqlTabs({ authRequired }: { readonly authRequired: boolean }): GraphiQLTab[] {
  const tabs: { query: string; variables: string }[] = [
    {
      query: createSession,
      variables: json({ input: { title: 'My first chat', systemPrompt: 'You are friendly and answer briefly.' } }),
    },
    { query: send, variables: json({ input: { sessionId: lastSession, message: 'Hello! What can you do?' } }) },
    { query: stream, variables: json({ input: { sessionId: lastSession, message: 'Tell me a short story.' } }) },
    {
      query: seed,
      variables: json({
        input: {
          sessionId: lastSession,
          messages: [
            { role: 'USER', content: 'My name is Ada.' },
            { role: 'ASSISTANT', content: 'Nice to meet you, Ada.' },
          ],
        },
      }),
    },
    { query: historyAndCost, variables: json({ id: lastSession }) },
  ];
  return authRequired
    ? tabs.map(({ query, variables }) => ({
        query: signInHint + query,
        variables,
        headers: json({ authorization: 'Bearer TOKEN' }),
      }))
    : tabs;
}

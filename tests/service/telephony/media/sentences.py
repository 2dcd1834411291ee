"""What is said in the tests of live calls. No sentence has a pause inside: it would be heard as two. Most sound
finished to the model that ends turns, others take two seconds longer."""

GREETING = "Hello this is Ada calling from Northwind."
QUESTION = "Does Tuesday suit you?"
PRICE = "The check costs twenty euros."
YES = "That suits me very well."
COST = "How much does it cost?"
STOP = "Please stop calling me."
WAIT = "No thank you not today."
MACHINE = "Please leave a message after the tone."
MESSAGE = "This is Ada and we will try again tomorrow."
ASIDE = "Okay."
LATER = "My neighbour waters the plants in summer."
LONG = (
    "Hello this is Ada and I would like to tell you about everything that we have done since the beginning of the year "
    "because there is a great deal of it and all of it will interest you very much indeed"
)
PROMPT = f"You are Ada from Northwind.\n- Ask whether Tuesday suits them.\n{PRICE}"
CONTACT = (YES, COST, STOP, WAIT, MACHINE, ASIDE, LATER)
AGENT = (GREETING, QUESTION, PRICE, MESSAGE)

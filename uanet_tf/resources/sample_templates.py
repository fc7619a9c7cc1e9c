"""Sentence templates of the sample corpus.

Notation: words are separated by spaces; `(a|b c)` is a choice, `[a b]` is used in half the cases,
`{kind}` or `{kind.n}` is a slot; the same n means the same person, club, ... in one sentence:

    {per} full name, {sur} surname of the same person          PER
    {club} place word alone, {fullclub} "Harwick Rovers"       ORG
    {firm} "Harwick Motors", {short} its place word alone      ORG
    {body} acronym or "University of Harwick"                  ORG
    {city} {country}                                           LOC
    {nat} "Velian"   {event} "Harwick Cup"   {work} a title    MISC
    {n} {nth} {year} {day} {month} {score} numbers and dates   no label
"""

from __future__ import annotations


def _split_templates(text: str) -> tuple[str, ...]:
    """The templates of a text in which each ends with " ."."""
    *templates, _ = f"{' '.join(text.split())} ".split(" . ")
    return tuple(f"{template} ." for template in templates)


# Sentences whose names are told apart by the words beside them, or nearly.
PLAIN = _split_templates(
    """
    {per} was born in {city} in {year} [and moved to {country} at the age of {n}] .
    {per} , (chairman|chief executive|a spokeswoman) of {firm} , (resigned|stepped down) on {day}
        [after {n} years in office] .
    {firm} said on {day} that it would (close|sell|modernise) its (plant|works|depot) in {city} [and
        cut {n} jobs] .
    {firm} (bought|took over) {firm.2} for {n} million crowns [, the two companies said in {city}] .
    Shares of {firm} (rose|fell) {n} percent [on {day}] after {short} (warned of lower profits|named
        a new chairman) .
    {club} beat {club.2} {score} [at home] [on {day}] .
    {club} (drew with|lost to|beat) {club.2} {score} in the (final|first round) of the {event} .
    {fullclub} signed (striker|goalkeeper|midfielder) {per} from {fullclub.2} [for {n} million
        crowns] .
    {per} scored (twice|in the {nth} minute) as {club} (beat|held) {club.2} [in front of {n} fans] .
    A {nat} (court|judge) sentenced {per} to {n} years in prison [for fraud] .
    The {nat} (government|parliament) (rejected|approved) the plan [by {n} votes to {n.2}] on {day}
        .
    (Prime Minister|President|Foreign Minister) {per} will (visit|leave) {country} [on {day}] [,
        officials in {city} said] .
    {country} and {country.2} signed a (trade|fishing|border) agreement in {city} on {day} .
    At least {n} people were (hurt|killed) when a (bus|train|ferry) (crashed|caught fire) near
        {city} [, police said] .
    Heavy rain (flooded|cut off) {city} and {city.2} in the (north|south) of {country} [for the
        second day] .
    Flights from {city} to {city.2} were cancelled [because of fog] [, {firm} said] .
    The {event} will be held in {city} in {month} {year} [for the first time since {year.2}] .
    {per} won the {event} [for the second time] , {n} seconds ahead of {per.2} of {country} .
    {nat} (runner|swimmer|cyclist) {per} (won|withdrew from) the {event} on {day} .
    " {work} " , the (film|novel) by {nat} (director|writer) {per} , opens in {city} next week .
    {per} wrote {work} in {year} [while living in {city}] .
    The {body} (published|withdrew) a report on {day} [that blamed {firm} for the accident] .
    Researchers at the {body} said {n} percent of {nat} (children|farmers) (eat|earn) too little .
    {per} of the {body} told reporters that the (talks|tests) would last {n} days .
    " We will not give up , " said {per} , the (coach|captain) of {club} .
    " The harvest was poor , " {sur} said [on {day}] [, adding that {city} needed help] .
    Police in {city} arrested {n} (supporters|fans) of {club} before the match against {club.2} .
    {sur} , {n} , (pleaded guilty|refused to speak) in a court in {city} .
    The mayor of {city} , {per} , (opened|closed) the new (bridge|station) [on {day}] .
    {firm} will build {n} (ships|engines|turbines) for {country} [by {year}] .
    Workers at {firm} in {city} (went on strike|accepted the offer) on {day} [, the union said] .
    The {body} and {firm} will share the cost of {n} million crowns .
    (Mr|Mrs|Dr) {sur} (lives|was last seen) in {city} .
    In {city} , {n} people (demonstrated|marched) against the {nat} (president|army) .
    {per} and {per.2} were married in {city} in {month} .
    {club} coach {per} said (his|her) players were tired after the trip to {city} .
    Trains between {city} and {city.2} will run again from {day} .
    {nat} exports to {country} (rose|fell) by {n} percent in {month} , the {body} said .
    The {nat} champion {sur} (beat|lost to) {nat.2} {per.2} in {n} sets .
    {per} moved from {fullclub} to {club.2} in {year} and scored {n} goals .
    A ship of {firm} ran aground off {city} [with {n} people on board] .
    Farmers near {city} lost {n} percent of the crop [in {month}] .
    The {event} , signed in {year} , ended the war between {country} and {country.2} .
    Critics praised {work} , in which {per} plays a doctor from {city} .
    {short} said profits had (risen|fallen) to {n} million crowns and {sur.2} would stay as chairman
        .
    {sur} joined {club} from {club.2} on {day} .
    {sur} flew from {city} to {country} to meet {sur.2} .
    {country} recalled its ambassador from {city} on {day} .
    """
)

# A name introduced with what it is; {x} is one bare word in all of the sentence.
INTRODUCTIONS = {
    "PER": (
        "{x} , the (former goalkeeper|finance minister|novelist|lawyer|opposition leader) ,",
        "{x} , who was (born in {city}|elected in {year}|{n} years old) ,",
        "{x} , a (widow|father|mother) of {n.3} ,",
        "{x} , the (son|daughter) of a (miner|teacher) from {city} ,",
    ),
    "ORG": (
        "{x} , the (second division side|champions of {year}|league leaders) ,",
        "{x} , which (was founded in {year}|sold {n} season tickets|finished third) ,",
        "{x} , the (maker of engines|largest employer in {city}|insurer|airline) ,",
        "{x} , a company that (makes pumps|lost {n} million crowns) ,",
    ),
    "LOC": (
        "{x} , the (port|old mining town|capital of the province|village of {n} people) ,",
        "{x} , which lies (near {city}|on the coast|{n} kilometres from the border) ,",
        "{x} , a town that (was flooded in {year}|has {n} churches) ,",
        "{x} , the birthplace of {per} ,",
    ),
}

# What may follow an introduction; says nothing about what {x} is.
STATEMENTS = (
    "had a (difficult|quiet|splendid) (year|winter|start)",
    "was in the news (again|once more) on {day}",
    "has changed a lot since {year}",
    "did not have to wait long",
    "was praised by {per.2}",
    "is known far beyond {country}",
)
MIDDLES = (
    ", and after (months of rumours|a long debate) that began in {month}",
    ", but while prices rose for the {nth} week [and the rain did not stop]",
    ", {per.3} wrote in a letter to the {body} , and",
    "; as a {nat} reporter put it [in the evening news] ,",
    ", and although {n} letters had been sent to the {nat} embassy",
    ", but when the (talks|celebrations) in {city.2} ended [late on {day}]",
)
ECHOES = (
    "(nobody|few people) spoke of {x} any more .",
    "the papers were full of {x} .",
    "all eyes were on {x} [again] .",
    "{x} made the headlines .",
    "no word about {x} was heard .",
    "critics of {x} (were silent|lost patience) .",
    "{x} was to blame .",
    "the best of {x} is still to come .",
)
# The other way round: the bare name first, and what it is only at the end.
OPENINGS = (
    "{x} was in the news again [on {day}]",
    "Few people expected much of {x} [in {month}]",
    "{x} made the headlines [in {country}]",
    "All eyes were on {x} [last {day}]",
)
BRIDGES = (
    ", and {n} (letters|calls) reached the {body} , for",
    ", because , as {per.2} wrote [in {month}] ,",
    "; for most {nat} readers , though ,",
    ", although in {city.2} [and elsewhere]",
)
CLOSINGS = {
    "PER": ("{x} is a (singer|minister|striker) first of all .", "{x} had long since retired ."),
    "ORG": ("{x} is a (club|bank|brewery) first of all .", "{x} had long since gone bankrupt ."),
    "LOC": ("{x} is a (harbour|town|suburb) first of all .", "{x} had long since been rebuilt ."),
}

# Lists: one word at the start or the end tells what all the names are.
LIST_HEADS = {
    "PER": ("Scorers on {day} :", "Leading candidates in {month} :", "Starting riders , {day} :"),
    "ORG": ("Results on {day} :", "Shares traded in {month} :", "League table , {day} :"),
    "LOC": ("Temperatures on {day} :", "Rainfall in {month} :", "Road distances , {day} :"),
}
LIST_PLAIN_HEADS = ("Figures for {day} :", "The list of {month} :", "As reported on {day} :")
LIST_TAILS = {
    "PER": ("-- votes for each candidate", "-- goals scored by each player"),
    "ORG": ("-- points of each team", "-- closing price of each share"),
    "LOC": ("-- millimetres of rain", "-- degrees at noon"),
}

# Nothing in the sentence tells what {x} is: here the right answer is to be unsure.
BARE = (
    "{x} was silent on {day} .",
    "{x} had the last word [in {month}] .",
    "It was a bad week for {x} [, {per} wrote] .",
    "{x} deserves better .",
    "No news from {x} [since {day}] .",
)

"""Who asks not to be called again is understood, and who only says when to call is not taken for one who does."""

import pytest

from callwright.service.rules.opt_out_words import OPT_OUT_KEY, is_opt_out, is_opt_out_key

OPT_OUTS: dict[str, tuple[str, ...]] = {
    "en": (
        *("Don't call me again.", "Please take me off your list.", "STOP", "Dont call back", "Never call this number!"),
        *("Not interested, stop calling me.", "Take my name off your list."),
        *("I don’t want to be called anymore.", "Could you remove my number?"),
        *("No more calls, please.", "I said do not call me any more.", "Please don't ever ring me again at home."),
    ),
    "de": (
        *("Bitte rufen Sie mich nicht mehr an.", "Rufen Sie mich nie wieder an!", "Stopp."),
        *("Streichen Sie mich von Ihrer Liste.", "Ich möchte nicht mehr angerufen werden.", "Keine Anrufe mehr."),
        *("Löschen Sie meine Nummer, bitte.", "Hören Sie auf, mich anzurufen.", "Rufen Sie mich bitte nicht an."),
    ),
    "fr": (
        *("Ne m'appelez plus, s'il vous plaît.", "Arrêtez de m'appeler !", "Retirez-moi de votre liste."),
        *("Je ne veux plus être appelé.", "N'appelez plus jamais ici.", "Laissez-moi tranquille."),
        *("Supprimez mon numéro.", "Ne me téléphonez plus"),
    ),
    "es": (
        *("Por favor, no me llame más.", "No vuelvan a llamarme.", "¡Dejen de llamar!", "Basta."),
        *("Bórreme de su lista, por favor.", "No quiero que me llamen.", "Le pido que elimine mi número."),
    ),
    "it": (
        *("Per favore, non mi chiami più.", "Smettete di chiamarmi!", "Mi tolga dalla lista.", "Basta!"),
        *(
            "Cancelli il mio numero, per cortesia.",
            "Non voglio più essere chiamata.",
            "Non chiamate più questo numero.",
        ),
    ),
    "nl": (
        *("Belt u mij niet meer, alstublieft.", "Bel me niet meer!", "Haal me van die lijst, nu.", "Bel niet terug."),
        *("Ik wil niet meer gebeld worden.", "Verwijder mijn nummer.", "Stop met bellen."),
    ),
    "pt": (
        *("Por favor, não me ligue mais.", "Parem de ligar!", "Tire meu número da lista.", "Chega."),
        *("Não quero mais ligações.", "Não liguem mais para cá.", "Me deixem em paz."),
    ),
    "hi": (
        *("कृपया मुझे दोबारा फ़ोन मत कीजिए।", "मेरा नंबर हटा दीजिए, कृपया।", "मुझे कॉल मत करो!", "लिस्ट से हटाओ मुझे।"),
        *("मुझे अपनी सूची से हटा दीजिए।", "मुझे और कॉल नहीं चाहिए।"),
    ),
}
OTHERS: dict[str, tuple[str, ...]] = {
    "en": (
        *("Don't call me Bob.", "Call me back.", "Please don't call me before ten.", "Stop by on Friday."),
        *(
            "Don't call me on Sundays, weekdays are fine.",
            "You never call me.",
            "Do not call me at noon, I am at work.",
        ),
        *("Don't take me off your list!", "I don't call back people I don't know.", "Stop calling me Bob."),
        *("Don't call us so early.", "I'd like to hear from you again."),
    ),
    "de": (
        *("Rufen Sie mich nicht vor zehn an.", "Rufen Sie mich morgen an.", "Ich nehme das Angebot nicht mehr an."),
        *("Rufen Sie mich heute nicht an, sondern morgen.", "Warum rufen Sie mich nicht an?"),
        *("Ich kann nicht mehr anrufen.", "Rufen Sie mich bitte nicht so früh an.", "Streichen Sie mich nicht!"),
    ),
    "fr": (
        *("Ne m'appelez pas avant dix heures.", "Rappelez-moi demain.", "Ne m'appelez pas Monsieur."),
        *("Pourquoi ne m'appelez-vous plus ?", "Laissez-moi réfléchir.", "Je ne veux plus de café."),
        *("Vous ne m'appelez jamais.", "Arrêtez-vous ici."),
    ),
    "es": (
        *("No me llame antes de las diez.", "Llámeme mañana.", "No me llame Bob.", "¿Por qué no me llaman?"),
        *("No me llame los domingos.", "No quiero más café.", "No me llame hoy, por favor."),
    ),
    "it": (
        *("Non mi chiami prima delle dieci.", "Mi richiami domani.", "Non mi chiami Bob.", "Perché non mi chiamate?"),
        *("Non mi chiami di domenica.", "Non ho più tempo oggi.", "Mi cancelli l'appuntamento."),
    ),
    "nl": (
        *("Bel me niet voor tien uur.", "Bel me morgen terug.", "Ik kan niet meer terugbellen."),
        *("Bel me niet op zondag.", "Bel me niet zo vroeg.", "Waarom belt u mij niet?", "Ik heb niet meer nodig."),
    ),
    "pt": (
        *("Não me ligue antes das dez.", "Me ligue amanhã.", "Por que não me ligam?", "Não me ligue aos domingos."),
        *("Não me ligue hoje, por favor.", "Não quero mais receber e-mails.", "Pare na esquina."),
    ),
    "hi": (
        *("दस बजे से पहले फ़ोन मत कीजिए।", "मुझे कल फ़ोन कीजिए।", "अभी कॉल मत करो।", "आज फ़ोन न करें।"),
        *("रात को कॉल मत करना।", "मुझे और चाय नहीं चाहिए।"),
    ),
}
BOTH = [
    (language, said, asks)
    for asks, sayings in ((True, OPT_OUTS), (False, OTHERS))
    for language in sayings
    for said in sayings[language]
]


@pytest.mark.requirement("DNC-07")
@pytest.mark.parametrize(("language", "said", "asks"), BOTH, ids=[f"{one[0]}-{one[1]}" for one in BOTH])
def test_who_asks_not_to_be_called_again_is_understood_and_who_says_when_to_call_is_not_mistaken(
    language: str, said: str, asks: bool
) -> None:
    assert is_opt_out(said, language) is asks


def test_each_language_has_twelve_sayings_half_of_them_no_opt_outs() -> None:
    assert OPT_OUTS.keys() == OTHERS.keys()
    for language in OPT_OUTS:
        assert len(OPT_OUTS[language]) >= 6 <= len(OTHERS[language]), language


@pytest.mark.parametrize("language", ["en", "de-AT", "ja", "xx"])
def test_a_sentence_counts_in_the_language_it_is_said_in_whatever_the_call_is_held_in(language: str) -> None:
    assert is_opt_out("Rufen Sie mich nicht mehr an.", language)
    assert is_opt_out("Stop.", language)


def test_a_single_word_counts_in_its_own_language_alone() -> None:
    assert is_opt_out("¡Basta!", "es-MX")
    assert not is_opt_out("Basta", "en")
    assert not is_opt_out("Chega mais perto.", "pt")


def test_the_key_counts_alone_and_not_within_an_entry() -> None:
    assert is_opt_out_key(["1", OPT_OUT_KEY])
    assert not is_opt_out_key(["1", "1934", "99"])
    assert not is_opt_out_key([])


def test_a_long_saying_is_looked_at_in_linear_time() -> None:
    assert not is_opt_out("do not call " * 400 + "it a day", "en")
    assert not is_opt_out("ich möchte " * 2_000, "de")

import type { Program } from "../contract/programs.ts";

type Branding = Program["branding"];

/** What the fund's public pages say. */
export const createFundBranding = (name: string): Branding => ({
  headerText: `${name} · Aldersund Foundation`,
  footerText: "Questions: office@example.org · Applications are read in English, French and German.",
  pages: {
    landing: {
      heroTitle: "Work that a place can keep",
      heroSubtitle: "Grants for water, buildings, food, repair and the coast, for those who live and work there.",
      bodyHtml:
        "<p>The fund supports projects with a clear need, a plan that others can follow and an effect that lasts. Applications are read as they come in.</p>",
      ctaLabel: "Start an application",
    },
    register: {
      heroTitle: "Register",
      heroSubtitle: "One account is enough for all your applications.",
      ctaLabel: "Register",
    },
    submission: { heroTitle: "Your application", heroSubtitle: "You can save at any time and go on later." },
    submitted: {
      heroTitle: "Thank you",
      bodyHtml: "<p>Your application has reached us. We will write to you when it has been screened.</p>",
    },
  },
});

export const pilotBranding: Branding = {
  headerText: "Enterprise pilots",
  pages: {
    landing: {
      heroTitle: "From prototype to practice",
      heroSubtitle: "For small enterprises that want to try their solution at real sites.",
      ctaLabel: "Propose a pilot",
    },
  },
};

export const residencyBranding: Branding = {
  headerText: "Studio Residencies · Harbourlight Arts Trust",
  footerText: "Harbourlight Arts Trust, studios@example.com",
  pages: {
    landing: {
      heroTitle: "Three months by the harbour",
      heroSubtitle: "Studios for ceramics, textiles and printmaking, with a grant and a flat.",
      ctaLabel: "Apply for a residency",
    },
  },
};
